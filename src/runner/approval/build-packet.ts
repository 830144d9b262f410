import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import { hashText } from "../../protocol/json/canonical-hash.ts";
import type { ConfirmationPacket } from "../../protocol/approval/packet.ts";
import { isJsonObject, type JsonObject } from "../../protocol/json/value.ts";
import { findProtoKey, isWellFormed, nestsTooDeep } from "../../protocol/json/guard.ts";
import { isHighSurrogate, utf8Bytes } from "../../protocol/text/encoding.ts";
import { withheldPaths } from "../../protocol/json/withheld-paths.ts";
import type { Accepted } from "../accepted.ts";
import { answerWithin } from "../answer-within.ts";
import type { ActiveCall } from "../active-call.ts";
import type { Invocation } from "../invocation.ts";
import { wayBackOf } from "./describe-compensation.ts";
import { toIso } from "../../protocol/text/iso-time.ts";

/** A call that people are asked about. */
interface Asked {
  readonly accepted: Accepted;
  readonly invocation: Invocation;
  readonly expiresAtMs: number;
}

/**
 * Writes down what people are shown before they decide about a call (seeds/004, "Confirmation Gates").
 * Contract: never throws for what an author's `describe` or `preview` does: where they do not answer as
 * they should the packet has words of its own, and says that a state is not known.
 */
export async function buildPacket(
  hand: ActiveCall,
  { accepted: { args, shown }, invocation, expiresAtMs }: Asked,
): Promise<ConfirmationPacket> {
  const { tool, context } = hand;
  const { title, consequence } = describe(tool, args);
  return {
    actionName: { title, tool: tool.id, version: tool.version },
    consequence,
    arguments: { shown, withheld: withheldPaths(args, shown) },
    ...(await previewStates(hand, args, invocation)),
    idempotencyFingerprint: await hashText(invocation.scope.idempotencyKey),
    riskClass: tool.sideEffectClass,
    expiresAt: toIso(expiresAtMs),
    compensation: wayBackOf(tool.compensation),
    rejectionPath: "The tool does not run; the model is told and may go on without it.",
    traceId: context.runId,
  };
}

const MAX_TITLE_CHARS = 120;
const MAX_CONSEQUENCE_CHARS = 1_000;

/** The author's words are made of arguments that a model chose, so they are bounded like those. */
function describe(
  tool: BoundToolRuntime,
  args: JsonObject,
): { readonly title: string; readonly consequence: string } {
  const { action, consequence } = askToDescribe(tool, args);
  return {
    title: readWords(action, MAX_TITLE_CHARS) ?? tool.id,
    consequence: readWords(consequence, MAX_CONSEQUENCE_CHARS) ?? CONSEQUENCES[tool.effect],
  };
}

const CONSEQUENCES: { readonly [Effect in BoundToolRuntime["effect"]]: string } = {
  read_only: "It reads with these arguments and changes nothing. Its contract does not say more.",
  state_change: "It changes data with these arguments. Its contract does not say more.",
  external_side_effect:
    "It acts on people or systems outside with these arguments. Its contract does not say more.",
};

type Words = { readonly action?: unknown; readonly consequence?: unknown };

function askToDescribe(tool: BoundToolRuntime, args: JsonObject): Words {
  try {
    // An author out of the compiler's reach may answer anything, getters that throw included.
    const { action, consequence } = (tool.describe?.(args) ?? {}) as Words;
    return { action, consequence };
  } catch {
    return {};
  }
}

/** Reads text and says how much of it is not shown, if any. */
function readWords(words: unknown, maxChars: number): string | undefined {
  if (typeof words !== "string" || words.trim() === "") return undefined;
  if (words.length <= maxChars) return words;
  const splitsPair = isHighSurrogate(words.charCodeAt(maxChars - 1));
  const kept = words.slice(0, splitsPair ? maxChars - 1 : maxChars);
  return `${kept}… (${words.length - kept.length} more characters are not shown)`;
}

const MAX_PREVIEW_MS = 5_000;

type States = Pick<ConfirmationPacket, "beforeState" | "afterState">;

/** Asks what the target is like, with what may ask and not act. */
async function previewStates(
  { tool, ports, signal }: ActiveCall,
  args: JsonObject,
  { context, scope }: Invocation,
): Promise<States> {
  const unknown: States = { beforeState: null, afterState: null };
  const { preview } = tool;
  if (!preview) return unknown;
  const { maxRuntimeMs = MAX_PREVIEW_MS } = ports.policy.budgets;
  const timeoutMs = Math.min(MAX_PREVIEW_MS, maxRuntimeMs, tool.timeoutMs);
  try {
    const ask = (): Promise<unknown> => preview(args, context, scope);
    const waited = await answerWithin({ clock: ports.clock, timeoutMs, signal }, ask);
    if (waited.kind !== "answered") return unknown;
    const { before, after } = (waited.value ?? {}) as Readonly<Record<string, unknown>>;
    return { beforeState: readState(tool, before), afterState: readState(tool, after) };
  } catch {
    return unknown;
  }
}

/** More than people can look through. */
const MAX_STATE_BYTES = 32 * 1024;

/** Keeps what is allowlisted of a state that is JSON and not too large. Fails: throws for a cycle. */
function readState(tool: BoundToolRuntime, state: unknown): JsonObject | null {
  if (!isJsonObject(state)) return null;
  const text = JSON.stringify(state);
  if (typeof text !== "string" || nestsTooDeep(text)) return null;
  const plain: unknown = JSON.parse(text);
  if (!isJsonObject(plain) || findProtoKey(plain) || !isWellFormed(plain)) return null;
  const shown = tool.redactState(plain);
  return utf8Bytes(JSON.stringify(shown)) <= MAX_STATE_BYTES ? shown : null;
}

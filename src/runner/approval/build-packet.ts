import type { Fingerprints } from "../../capabilities/fingerprints.ts";
import type { Log } from "../../capabilities/log.ts";
import type { Clock } from "../../capabilities/system.ts";
import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type { ConfirmationPacket } from "../../protocol/approval/packet.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import { hideValues, withheldValues, type HideValues } from "../../protocol/text/hide-values.ts";
import { cutText, replaceHalves } from "../../protocol/text/whole-characters.ts";
import { withheldPaths } from "../../protocol/json/withheld-paths.ts";
import { answerWithin } from "../answer-within.ts";
import { readState, showState } from "../read-state.ts";
import type { ValiditySubject } from "../gates/subjects.ts";
import { describeCompensation, type UndoPorts } from "./describe-compensation.ts";
import { toIso } from "../../protocol/text/iso-time.ts";

/** What building a packet takes of the run. */
export interface PacketPorts extends UndoPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly fingerprints: Fingerprints;
}

/**
 * Builds the packet that approvers see before they decide (seeds/004, "Confirmation Gates").
 * Contract: never throws for what an author's `describe` or `preview` does. Where they fail, the
 * packet has default texts and says that a state is not known.
 */
export async function buildPacket(
  ports: PacketPorts,
  subject: ValiditySubject,
  expiresAtMs: number,
): Promise<ConfirmationPacket> {
  const { tool, accepted, invocation } = subject;
  const { args, shown } = accepted;
  const { context, scope } = invocation;
  const { title, consequence } = describe(ports.log, tool, accepted);
  return {
    actionName: { title, tool: tool.id, version: tool.version },
    consequence,
    arguments: { shown, withheld: withheldPaths(args, shown) },
    ...(await previewStates(ports, subject)),
    idempotencyFingerprint: await ports.fingerprints.of(context, scope.idempotencyKey),
    riskClass: tool.sideEffectClass,
    expiresAt: toIso(expiresAtMs),
    compensation: describeCompensation(ports, tool.compensation),
    rejectionPath: "The tool does not run; the model is told and may go on without it.",
    traceId: context.runId,
  };
}

const MAX_TITLE_CHARS = 120;
const MAX_CONSEQUENCE_CHARS = 1_000;

/**
 * Threat: the author's texts are made of arguments that a model chose, so their length is bounded;
 * they may name an argument that redaction withholds, so it is hidden.
 */
function describe(
  log: Log,
  tool: BoundToolRuntime,
  { args, shown }: ValiditySubject["accepted"],
): { readonly title: string; readonly consequence: string } {
  const hide = hideValues(withheldValues(args, shown));
  const { action, consequence } = askToDescribe(tool, args, (thrown) => {
    const about = { toolId: tool.id, toolVersion: tool.version, hide };
    log.fault("packet_incomplete", thrown, about);
  });
  return {
    title: readText(action, MAX_TITLE_CHARS, hide) ?? tool.id,
    consequence: readText(consequence, MAX_CONSEQUENCE_CHARS, hide) ?? CONSEQUENCES[tool.effect],
  };
}

const CONSEQUENCES: { readonly [Effect in BoundToolRuntime["effect"]]: string } = {
  read_only: "It reads with these arguments and changes nothing. Its contract does not say more.",
  state_change: "It changes data with these arguments. Its contract does not say more.",
  external_side_effect:
    "It acts on people or systems outside with these arguments. Its contract does not say more.",
};

type Texts = { readonly action?: unknown; readonly consequence?: unknown };

function askToDescribe(
  tool: BoundToolRuntime,
  args: JsonObject,
  onThrown: (thrown: unknown) => void,
): Texts {
  try {
    // An author who does not use TypeScript may return anything, throwing getters included.
    const { action, consequence } = (tool.describe?.(args) ?? {}) as Texts;
    return { action, consequence };
  } catch (thrown) {
    onThrown(thrown);
    return {};
  }
}

/** Reads text, and says how much of it is not shown. */
function readText(text: unknown, maxChars: number, hide: HideValues): string | undefined {
  if (typeof text !== "string" || text.trim() === "") return undefined;
  // Hidden before it is cut: a cut would leave half of a value.
  const whole = hide(replaceHalves(text));
  const kept = cutText(whole, maxChars);
  if (kept.length === whole.length) return kept;
  return `${kept}… (${whole.length - kept.length} more characters are not shown)`;
}

const MAX_PREVIEW_MS = 5_000;

type States = Pick<ConfirmationPacket, "beforeState" | "afterState">;

/** Asks the contract for the target's state; the capabilities that it gets for this cannot act. */
async function previewStates(
  { clock, log, policy }: PacketPorts,
  subject: ValiditySubject,
): Promise<States> {
  const { tool, accepted, invocation, signal } = subject;
  const { context, scope } = invocation;
  const unknown: States = { beforeState: null, afterState: null };
  const { preview } = tool;
  if (!preview) return unknown;
  const { maxRuntimeMs = MAX_PREVIEW_MS } = policy.budgets;
  const timeoutMs = Math.min(MAX_PREVIEW_MS, maxRuntimeMs, tool.timeoutMs);
  try {
    const ask = (): Promise<unknown> => preview(accepted.args, context, scope);
    const waited = await answerWithin({ clock, timeoutMs, signal }, ask);
    if (waited.kind !== "answered") return unknown;
    const { before, after } = (waited.value ?? {}) as Readonly<Record<string, unknown>>;
    const read = (state: unknown): JsonObject | null => {
      const plain = readState(state);
      return plain && showState({ tool, hide: scope.hide }, plain);
    };
    return { beforeState: read(before), afterState: read(after) };
  } catch (thrown) {
    const about = { toolId: tool.id, toolVersion: tool.version, hide: scope.hide };
    log.fault("packet_incomplete", thrown, about);
    return unknown;
  }
}

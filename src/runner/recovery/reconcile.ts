import { hashOf, hashText } from "../../protocol/json/canonical-hash.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { Reconciliation } from "../../protocol/outcome/reconciliation.ts";
import { ok } from "../../protocol/outcome/result.ts";
import { askTool } from "../ask-tool.ts";
import type { ActiveCall } from "../active-call.ts";
import { authorise } from "../gates/authorise.ts";
import { checkArguments } from "../gates/check-arguments.ts";
import { parseCall } from "../gates/parse-call.ts";
import { openInvocation } from "../invocation.ts";

/** What the contract found out, and about what. */
export interface Found {
  readonly answer: Reconciliation<unknown>;
  readonly args?: JsonObject;
  readonly argumentsFingerprint: string;
}

/** Asks the contract what became of the operation; what breaks on the way answers nothing. */
export async function reconcile(hand: ActiveCall): Promise<Found> {
  const argumentsFingerprint = await hashText(hand.call.argumentsText.trim());
  const unknown: Found = { answer: { kind: "unknown" }, argumentsFingerprint };
  try {
    return (await askContract(hand)) ?? unknown;
  } catch {
    return unknown;
  }
}

/**
 * Asks with arguments that fit the contract, and with what the operation may be asked with now; undefined
 * where it cannot be asked, or for another operation than the one that was bound.
 */
async function askContract(hand: ActiveCall): Promise<Found | undefined> {
  const { tool, call, context, ports } = hand;
  const parsed = parseCall(call, tool);
  const valid = parsed.ok ? checkArguments(tool, parsed.value) : parsed;
  const bound = ports.invocations.find(context)?.binding;
  const ask = tool.reconcile;
  if (!ask || !valid.ok || !bound) return undefined;
  const payloadHash = await hashOf(valid.value);
  const authorised = await authorise(hand, ports.policy);
  if (!authorised.ok) return undefined;
  const opened = await openInvocation(hand, payloadHash, authorised.value);
  if (!opened.ok) return undefined;
  const invocation = opened.value;
  const { context: boundContext, scope } = invocation;
  try {
    if (scope.idempotencyKey !== bound.idempotencyKey) return undefined;
    const asked = await askTool(hand, async () => ok(await ask(valid.value, boundContext, scope)));
    if (!asked.ok) return undefined;
    return { answer: readAnswer(asked.value), args: bound.args, argumentsFingerprint: payloadHash };
  } finally {
    invocation.close();
  }
}

/** An author out of the compiler's reach may answer anything. */
function readAnswer(answer: unknown): Reconciliation<unknown> {
  const { kind, output } = (answer ?? {}) as { readonly kind?: unknown; readonly output?: unknown };
  if (kind === "committed") return { kind, output };
  return kind === "not_committed" ? { kind } : { kind: "unknown" };
}

import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { Reconciliation } from "../../protocol/outcome/reconciliation.ts";
import { ok } from "../../protocol/outcome/result.ts";
import type { ActiveCall } from "../active-call.ts";
import { hideValues, type HideValues } from "../../protocol/text/hide-values.ts";
import { askTool, type AskPorts } from "../ask-tool.ts";
import { GateTrail } from "../gates/gate.ts";
import { checkAllowed } from "../gates/check-allowed.ts";
import { obeyPolicy, type PolicyPorts } from "../gates/obey-policy.ts";
import { digestText, readArguments } from "../gates/read-arguments.ts";
import { openInvocation, type InvocationPorts } from "../invocation.ts";
import type { InvocationLedger } from "../invocation-ledger.ts";
import type { Terms } from "../terms.ts";

/** What reconciling takes of the run. */
export type ReconcilePorts = AskPorts &
  PolicyPorts &
  InvocationPorts & {
    /** The terms that the run pinned. */
    readonly policy: Terms["policy"];
    readonly pin?: Terms["pin"];
    readonly invocations: Pick<InvocationLedger, "find">;
  };

/** What the contract answered, and about which arguments. */
export interface Reconciled {
  readonly answer: Reconciliation<unknown>;
  /** Validated, not redacted. */
  readonly args?: JsonObject;
  /** Redacted. */
  readonly shownArgs?: JsonObject;
  readonly argumentsDigest: string;
  /** Hides the secrets of the connection that the contract was given. */
  readonly hide: HideValues;
}

/**
 * Asks the contract for the outcome of an operation that was dispatched.
 * Contract: never throws. Where the contract cannot be asked, or its function throws, the answer is
 * `unknown`.
 */
export async function reconcile(ports: ReconcilePorts, call: ActiveCall): Promise<Reconciled> {
  const argumentsDigest = await digestText(call.toolCall);
  const unknown: Reconciled = {
    answer: { kind: "unknown" },
    argumentsDigest,
    hide: hideValues([]),
  };
  const contract = call.tool.reconcile;
  if (!contract) return unknown;
  try {
    return (await reconcileBy(contract, ports, call)) ?? unknown;
  } catch (thrown) {
    ports.log.fault("tool_threw", thrown, { toolId: call.tool.id, toolVersion: call.tool.version });
    return unknown;
  }
}

/** Asks only about arguments that the gates accept now, and about the operation that was bound. */
async function reconcileBy(
  contract: NonNullable<BoundToolRuntime["reconcile"]>,
  ports: ReconcilePorts,
  call: ActiveCall,
): Promise<Reconciled | undefined> {
  const { tool, toolCall, context, signal } = call;
  const trail = new GateTrail();
  const terms: Terms = { policy: ports.policy, pin: ports.pin };
  const bound = ports.invocations.find(context)?.binding;
  if (!bound || !checkAllowed({ terms, tool }, trail).ok) return undefined;
  const read = await readArguments(tool, toolCall, trail);
  if (!read.ok) return undefined;
  const accepted = read.value;
  const policyCall = { terms, tool, args: accepted.args, operation: context };
  const obeyed = await obeyPolicy(ports, policyCall, trail);
  if (!obeyed.ok) return undefined;
  const { payloadHash } = accepted;
  const { connectionId, workspaceId } = obeyed.value;
  const allowedCall = { tool, context, payloadHash, connectionId, workspaceId };
  const opened = await openInvocation(ports, allowedCall);
  if (!opened.ok) return undefined;
  const invocation = opened.value;
  try {
    if (invocation.scope.idempotencyKey !== bound.idempotencyKey) return undefined;
    const { context, scope } = invocation;
    const asked = await askTool(ports, { tool, signal, accepted, invocation }, async () =>
      ok(await contract(accepted.args, context, scope)),
    );
    if (!asked.ok) return undefined;
    const answer = readAnswer(asked.value);
    return {
      answer,
      args: accepted.args,
      shownArgs: bound.shownArgs,
      argumentsDigest: payloadHash,
      hide: scope.hide,
    };
  } finally {
    invocation.close();
  }
}

/** An author who does not use TypeScript may answer anything. */
function readAnswer(answer: unknown): Reconciliation<unknown> {
  const { kind, output } = (answer ?? {}) as { readonly kind?: unknown; readonly output?: unknown };
  if (kind === "committed") return { kind, output };
  return kind === "not_committed" ? { kind } : { kind: "unknown" };
}

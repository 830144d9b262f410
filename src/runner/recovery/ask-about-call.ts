import type { JsonObject } from "../../protocol/json/value.ts";
import type { InvocationBinding, ToolInvocationContext } from "../../protocol/invocation/record.ts";
import { ok } from "../../protocol/outcome/result.ts";
import type { AttemptScope } from "../../capabilities/tool.ts";
import type { ActiveCall } from "../active-call.ts";
import { askTool, type AskPorts } from "../author-code/ask-tool.ts";
import { checkAllowed } from "../gates/check-allowed.ts";
import { GateTrail } from "../gates/gate.ts";
import { obeyPolicy, type PolicyPorts } from "../gates/obey-policy.ts";
import { readArguments } from "../gates/read-arguments.ts";
import type { AcceptedArguments } from "../gates/subjects.ts";
import { hasOtherTarget, openAuthority, type AuthorityPorts } from "../authority/open-authority.ts";
import type { InvocationLedger } from "../invocation/invocation-ledger.ts";
import type { Terms } from "../terms.ts";

/** What asking about a call takes of the run. */
export type AboutPorts = AskPorts &
  PolicyPorts &
  AuthorityPorts & {
    /** The terms that the run pinned. */
    readonly policy: Terms["policy"];
    readonly pin?: Terms["pin"];
    readonly invocations: Pick<InvocationLedger, "find">;
  };

/** A call that was bound to its payload before. */
export type BoundCall = Pick<ActiveCall, "tool" | "toolCall" | "context" | "signal">;

/** What the contract answered, and about what. */
export interface AnswerAbout {
  readonly answer: unknown;
  readonly accepted: AcceptedArguments;
  readonly bound: InvocationBinding;
  /** Masks the secrets of the connection that the contract was given. */
  readonly mask: AttemptScope["mask"];
}

type Ask = (args: JsonObject, context: ToolInvocationContext, scope: AttemptScope) => unknown;

/**
 * Asks a function of the contract about an operation that was dispatched. The function may read,
 * and nothing else. Asks only about arguments that the gates accept now, and about the operation
 * that was bound.
 * Undefined where the contract must not be asked, or its function throws or does not answer.
 * Contract: may throw for a schema, a rule or a redaction of an author that throws.
 */
export async function askAboutCall(
  ports: AboutPorts,
  { tool, toolCall, context: asked, signal }: BoundCall,
  ask: Ask,
): Promise<AnswerAbout | undefined> {
  const trail = new GateTrail();
  const terms: Terms = { policy: ports.policy, pin: ports.pin };
  const { binding: bound, shownData = [] } = ports.invocations.find(asked) ?? {};
  if (!bound || !checkAllowed(ports, { terms, tool, shownData }, trail).ok) return undefined;
  const read = await readArguments(tool, toolCall, trail);
  if (!read.ok) return undefined;
  const accepted = read.value;
  const policyCall = { terms, tool, args: accepted.args, operation: asked, shownData };
  const obeyed = await obeyPolicy(ports, policyCall, trail);
  if (!obeyed.ok) return undefined;
  const { connectionId, workspaceId } = obeyed.value;
  const allowed = { tool, context: asked, accepted, connectionId, workspaceId };
  const opened = await openAuthority(ports, allowed);
  if (!opened.ok) return undefined;
  const authority = opened.value;
  try {
    const { context, scope } = authority;
    if (scope.idempotencyKey !== bound.idempotencyKey) return undefined;
    // Another account would answer that nothing happened.
    if (hasOtherTarget(bound, authority)) return undefined;
    const answered = await askTool(ports, { tool, signal, accepted, authority }, async () =>
      ok(await ask(accepted.args, context, scope)),
    );
    if (!answered.ok) return undefined;
    return { answer: answered.value, accepted, bound, mask: scope.mask };
  } finally {
    authority.close();
  }
}

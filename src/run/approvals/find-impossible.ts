import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import { asksAnswer } from "../../protocol/approval/question.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { askTool } from "../../runner/author-code/ask-tool.ts";
import { openAuthority } from "../../runner/authority/open-authority.ts";
import type { AcceptedArguments } from "../../runner/gates/subjects.ts";
import type { CallNow, Review, ReviewPorts } from "./open-review.ts";

/** A call under the terms that hold now. */
export interface KnownCall extends CallNow {
  readonly tool: BoundToolRuntime;
  readonly accepted: AcceptedArguments;
}

/**
 * Finds why the call of an open approval cannot succeed any more: the failure that `checkState` of
 * its contract declares. Only contracts that keep their state in a workspace are asked, because a
 * page reads an open approval every few seconds.
 * Contract: never throws; changes nothing. Undefined where the call may succeed, and where nobody
 * can tell.
 */
export async function findImpossible(
  ports: ReviewPorts,
  { call, record, gatePorts }: Review,
  { tool, accepted, connectionId, workspaceId }: KnownCall,
): Promise<ToolFailure | undefined> {
  if (!tool.usesWorkspace || asksAnswer(record.asks)) return undefined;
  const { runId, claim } = ports;
  const { principal, workflowId = runId } = claim;
  const { tenantId, actorId, roles } = principal;
  const { toolCallId, step, part } = call;
  const context = { runId, tenantId, actorId, toolCallId, step, part };
  const about = {
    ...ports,
    principal,
    workflowId,
    policy: gatePorts.policy,
    journal: { append: () => {} },
    invocations: { find: () => call, noteRows: () => {} },
  };
  const asked = { tool, context, accepted, connectionId, workspaceId };
  const opened = await openAuthority(about, asked);
  if (!opened.ok) return undefined;
  const authority = opened.value;
  const { signal } = new AbortController();
  const check = { ...authority.context, callerRoles: roles, approvers: [] };
  const answer = await askTool(about, { tool, signal, accepted, authority }, () =>
    tool.checkState(accepted.args, check, authority.scope),
  );
  authority.close();
  // A workspace that cannot be reached says nothing about the call.
  const isDeclared = !answer.ok && tool.errorClasses.has(answer.failure.errors[0]?.code ?? "");
  return isDeclared ? answer.failure : undefined;
}

/** Formats a failure for people. */
export function formatReason({ errors }: ToolFailure): string {
  return errors.map(({ message }) => message).join("; ");
}

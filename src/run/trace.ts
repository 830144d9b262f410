import type { ApprovalRecord } from "../protocol/approval/record.ts";
import { summarise } from "../protocol/approval/view.ts";
import type { RunId } from "../protocol/identity/ids.ts";
import { actorsOf } from "../protocol/identity/principal.ts";
import { invocationIdOf } from "../protocol/invocation/id.ts";
import type { ToolInvocationRecord } from "../protocol/invocation/record.ts";
import type { AiEvent } from "../protocol/run/event.ts";
import type { RunFacts } from "../protocol/run/facts.ts";
import type { ToolCallSummary } from "../protocol/run/state.ts";
import type {
  RunTrace,
  TracedApproval,
  TracedCall,
  TracedClaim,
  TracedStep,
} from "../protocol/run/trace.ts";
import { toIso } from "../protocol/text/iso-time.ts";
import type { FingerprintOf } from "./outgoing-hashes.ts";
import type { Run } from "./run.ts";
import { runStateOf } from "./state.ts";
import type { ClaimedRun } from "./stored-run.ts";

/**
 * Assembles what a run stored about its decisions.
 * Threat: an auditor finds here what the run was asked, or what its tools were given.
 * Each field is named, so a field that a record gets later stays in the object.
 */
export async function traceOf(
  run: Run,
  claimed: ClaimedRun,
  fingerprintOf: FingerprintOf,
): Promise<RunTrace> {
  const { approvals, invocations, journal, outbox, store } = run;
  const { runId, model } = store.identity();
  const { facts } = store.progress();
  const { tokens, cost, reservation, pin, versions } = facts;
  const { epoch, recoveries, stop } = store.incarnations();
  const { assistant } = claimed;
  const records = invocations.all();
  const rest = {
    claim: claimOf(claimed),
    pins: { graphId: assistant?.id, assistant, policy: pin, ...versions },
    steps: stepsOf(journal.events(), facts, model),
    approvals: approvals.all().map((record) => approvalOf(runId, record)),
    spending: { tokens, cost, reservation },
    incarnations: { count: epoch + 1, recoveries, stop },
    notices: { arePending: outbox.hasNotices() },
  };
  const state = await runStateOf(run, { mayUndo: false, fingerprintOf });
  const { toolCalls, title: _, ...shown } = state;
  return { run: shown, ...rest, calls: records.map((one, at) => callOf(one, toolCalls[at])) };
}

function claimOf({ principal, workflowId, ...claimed }: ClaimedRun): TracedClaim {
  const { roles, scopes, embed } = principal;
  const { toolIds, connectionIds, workspaceId, budgets, ownLimits } = claimed;
  const narrowed = { toolIds, connectionIds, workspaceId, budgets, ownLimits };
  const who = { ...actorsOf(principal), origin: embed?.origin, roles, scopes };
  return { ...who, conversationId: workflowId, ...narrowed };
}

/** Lists the steps. The newest answer is known before its step has finished. */
function stepsOf(
  events: Iterable<AiEvent>,
  { answer }: RunFacts,
  firstModel: string,
): readonly TracedStep[] {
  const steps = new Map<number, TracedStep>();
  let [open, model] = [0, firstModel];
  for (const event of events) {
    const { type } = event;
    if (type === "step_started") open = event.step;
    else if (type === "model_changed") model = event.to;
    else if (type !== "step_finished") continue;
    const step = { step: open, model };
    if (type !== "step_finished") steps.set(open, step);
    else steps.set(open, { ...step, finish: event.finish, usage: event.usage });
  }
  const known = answer && steps.get(answer.step);
  if (!known) return [...steps.values()];
  const { finish, usage, failure } = answer;
  return [...steps.set(answer.step, { ...known, finish, usage, failure }).values()];
}

function callOf(
  { askedAtMs, dispatches, dispatchedAtMs, amounts, end }: ToolInvocationRecord,
  summary: ToolCallSummary | undefined,
): TracedCall {
  return {
    ...(summary as ToolCallSummary),
    proposedAt: toIso(askedAtMs),
    dispatches,
    dispatchedAt: dispatchedAtMs === undefined ? undefined : toIso(dispatchedAtMs),
    reserved: amounts,
    used: end?.used,
  };
}

function approvalOf(runId: RunId, record: ApprovalRecord): TracedApproval {
  const { runId: _, title: __, toolCallId: ___, ...summary } = summarise(runId, record);
  const { bounds, changedShown = [], changedTerms, consumedAtMs, pin, termsHash } = record;
  return {
    ...summary,
    invocationId: invocationIdOf(record.invocation),
    policy: pin,
    bounds,
    termsHash,
    changedTerms,
    changedShown: changedShown.length,
    votes: record.votes.map(({ approverId, roles, decision, consentId, atMs }) => ({
      approverId,
      roles,
      decision,
      consentId,
      at: toIso(atMs),
    })),
    consumedAt: consumedAtMs === undefined ? undefined : toIso(consumedAtMs),
  };
}

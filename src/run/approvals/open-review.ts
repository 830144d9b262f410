import { failCall } from "../../protocol/outcome/failures.ts";
import type { BudgetLedger } from "../../capabilities/budget.ts";
import type { ConnectionBroker } from "../../capabilities/connection.ts";
import type { ReachConversation } from "../../capabilities/conversation.ts";
import type { Fingerprints } from "../../capabilities/fingerprints.ts";
import type { AuthorizationPort } from "../../capabilities/identity.ts";
import type { Log } from "../../capabilities/log.ts";
import type { ModelDirectory } from "../../capabilities/model.ts";
import type { PolicyRegistry, PolicyStore } from "../../capabilities/policy.ts";
import type { BoundToolRuntime, BoundTools } from "../../capabilities/tool.ts";
import { loadTools, type LoadPorts } from "../../contracts/catalog/load-tools.ts";
import { asksAnswer } from "../../protocol/approval/question.ts";
import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import type { AskedRaise } from "../../protocol/budget/raise.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import type { HistoryReference } from "../../protocol/conversation/turn.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
import type { Operation, ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import { callerOf, type CallerClaim } from "../../protocol/policy/callers.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { amountsOf } from "../../protocol/policy/limits.ts";
import { soleWorkspace } from "../../protocol/policy/membership.ts";
import { policyOfRun } from "../../protocol/policy/narrow.ts";
import type { PolicyPin } from "../../protocol/policy/pin.ts";
import type { RunClaim } from "../../protocol/run/claim.ts";
import type { BoundedTerms } from "../../runner/approval/approval-terms.ts";
import { unansweredIn } from "../../runner/approval/unanswered.ts";
import { termsNow, type TermsPorts } from "../../runner/approval/terms-now.ts";
import { createFlow, type FlowMessages } from "../../runner/flow/evidence.ts";
import { restoreRunBudget } from "../../runner/budget/of-run.ts";
import type { RoomPorts } from "../../runner/budget/reserve.ts";
import { GateTrail } from "../../runner/gates/gate.ts";
import { obeyPolicy } from "../../runner/gates/obey-policy.ts";
import type { AcceptedArguments, PolicySubject } from "../../runner/gates/subjects.ts";
import { readCurrentPolicy, type PinnedTerms } from "../../runner/terms.ts";

/** What a review takes of the run. */
export interface ReviewPorts extends LoadPorts<BoundTools> {
  readonly policies: Pick<PolicyStore, "learn" | "read">;
  readonly registry: Pick<PolicyRegistry, "current">;
  readonly ledger: Pick<BudgetLedger, "peek">;
  readonly authorizationOf: (policy: ToolPolicy) => AuthorizationPort;
  readonly log: Log;
  readonly broker: ConnectionBroker;
  readonly fingerprints: Fingerprints;
  readonly runId: RunId;
  readonly claim: Pick<
    RunClaim,
    "toolIds" | "connectionIds" | "workspaceId" | "budgets" | "ownLimits" | "workflowId" | "history"
  > &
    CallerClaim;
  /** The earlier turns that the model is shown. */
  readonly history?: HistoryReference | undefined;
  readonly modelOf: ModelDirectory;
  /** The policy that the run pinned. */
  readonly pin: PolicyPin | undefined;
  /** The raises of the run's limits that people were asked for. */
  readonly raises: () => readonly AskedRaise[];
  /** All calls of the run; they used up its budgets. */
  readonly invocations: readonly ToolInvocationRecord[];
  /** What was said in this run. */
  readonly messages: FlowMessages;
  /** Absent: the run continues no conversation. */
  readonly conversationOf?: ReachConversation | undefined;
}

/** An approval, and the call that it is about. */
export interface ReviewedCall {
  readonly call: ToolInvocationRecord;
  readonly record: ApprovalRecord;
}

/** The call of an approval, and the two policies that it has to obey. */
export interface Review extends ReviewedCall {
  /** Absent when the deployment has no such version any more. */
  readonly tool: BoundToolRuntime | undefined;
  readonly current: PinnedTerms;
  /**
   * What the gates take. Their `policy` is the pinned one, narrowed to what the request asked for;
   * it is the ceiling.
   */
  readonly gatePorts: TermsPorts & RoomPorts & Pick<ReviewPorts, "pin">;
  readonly trail: GateTrail;
}

/**
 * Reads what the call of an open approval has to obey now.
 * Contract: never throws. Fails: DEPENDENCY_UNAVAILABLE when a policy or the tools cannot be
 * read.
 */
export async function openReview(
  ports: ReviewPorts,
  { call, record }: ReviewedCall,
): Promise<Result<Review, ToolFailure>> {
  const { claim, policies, pin } = ports;
  const { principal, connectionIds = [] } = claim;
  const loaded = pin && (await policies.read(principal.tenantId, pin));
  if (!loaded?.pin) return UNREADABLE;
  const pinned = policyOfRun(loaded.policy, claim);
  const current = await readCurrentPolicy({ ...ports, policy: pinned, principal });
  if (!current.ok) return UNREADABLE;
  const tools = await loadTools(ports, principal.tenantId);
  if (!tools) return NO_TOOLS;
  const earlier = await readEarlier(ports, [pinned, current.value.policy], record.toolId);
  if (!earlier) return UNREADABLE;
  const budget = restoreRunBudget(ports.invocations, {
    policy: pinned,
    person: claim.ownLimits && amountsOf(claim.ownLimits),
    raises: ports.raises,
  });
  const { invocations, messages } = ports;
  const calls = {
    find: ({ step, toolCallId }: Operation) =>
      invocations.find((one) => one.step === step && one.toolCallId === toolCallId),
    ended: () => invocations.filter(({ end }) => end),
  };
  // What is new is read where a packet is built.
  const said: FlowMessages = () => [...earlier, ...messages()];
  const flow = createFlow(calls, said, { newest: () => undefined });
  const { workspaceId = soleWorkspace(pinned, principal) } = claim;
  const caller = callerOf(claim, ports.modelOf);
  return ok({
    call,
    record,
    tool: tools.getBoundTool(record.toolId, record.toolVersion),
    current: current.value,
    gatePorts: {
      ...ports,
      principal,
      caller,
      connectionIds,
      workspaceId,
      budget,
      flow,
      policy: pinned,
    },
    trail: new GateTrail(),
  });
}

/**
 * Reads the earlier turns that the model is shown, where a policy asks what the person wrote.
 * Undefined when nobody can tell.
 */
async function readEarlier(
  { runId, claim: { workflowId }, history, conversationOf }: ReviewPorts,
  policies: readonly Pick<ToolPolicy, "dataFlow">[],
  toolId: string,
): Promise<readonly TranscriptMessage[] | undefined> {
  const isAsked = policies.some(({ dataFlow }) =>
    dataFlow.arguments.some(({ tool, must }) => tool === toolId && must.beFromPerson),
  );
  if (!isAsked || !workflowId || !history) return [];
  const answer = await conversationOf?.(workflowId)
    .readWindow(runId, history)
    .catch(() => undefined);
  return answer?.kind === "window" ? answer.messages : undefined;
}

/** What a call comes to under both policies. */
export interface CallNow extends Pick<PolicySubject, "connectionId" | "workspaceId"> {
  readonly amounts: PolicySubject["amounts"];
  /** Undefined when neither policy asks for an approval. */
  readonly terms: BoundedTerms | undefined;
}

/**
 * Holds the call with these arguments against both policies, as the runner does when the call
 * continues. Fails: what `obeyPolicy` and `termsNow` fail with.
 */
export async function obeyBothPolicies(
  { call, record, current, gatePorts, trail }: Review,
  tool: BoundToolRuntime,
  { args, payloadHash }: AcceptedArguments,
): Promise<Result<CallNow, ToolFailure>> {
  // The amount may stand in the state, which the packet holds as it was read for these arguments.
  const previewed = payloadHash === record.payloadHash ? record.packet : undefined;
  const terms = { policy: gatePorts.policy, pin: gatePorts.pin };
  const { shownData = [] } = call;
  const isOpen = asksAnswer(record.asks) && !call.answer;
  const unanswered = isOpen ? unansweredIn(tool, args) : [];
  const obeyed = await obeyPolicy(
    gatePorts,
    { tool, args, unanswered, operation: call, terms, previewed, shownData },
    trail,
  );
  if (!obeyed.ok) return obeyed;
  const now = await termsNow(gatePorts, { ...obeyed.value, terms }, { current, trail });
  const { amounts, connectionId, workspaceId } = obeyed.value;
  return now.ok ? ok({ amounts, connectionId, workspaceId, terms: now.value }) : now;
}

const UNREADABLE = failCall("policy_unavailable");
const NO_TOOLS = failCall("tools_unavailable");

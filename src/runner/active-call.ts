import type { ApprovalDesk, ApprovalSigner } from "../capabilities/approval.ts";
import type { AuthorizationPort } from "../capabilities/identity.ts";
import type { BudgetLedger } from "../capabilities/budget.ts";
import type { Clock, Random } from "../capabilities/system.ts";
import type { ConnectionBroker } from "../capabilities/connection.ts";
import type { PendingSteering, RunJournal } from "../capabilities/run-journal.ts";
import type { PolicyRegistry, PolicyStore } from "../capabilities/policy.ts";
import type { ToolHook, BoundToolRuntime, ToolSourcePort } from "../capabilities/tool.ts";
import type { ConnectionId, RunId } from "../protocol/identity/ids.ts";
import type { PolicyPin } from "../protocol/policy/pin.ts";
import type { Principal } from "../protocol/identity/principal.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import type { ToolCall } from "../protocol/tool/call.ts";
import type { ToolInvocationContext } from "../protocol/invocation/record.ts";
import type { ToolPolicy } from "../protocol/policy/document.ts";
import type { ToolSpec } from "../protocol/tool/spec.ts";
import type { CallHistory } from "./call-history.ts";
import type { FairLock } from "./fair-lock.ts";
import type { InvocationLedger } from "./invocation-ledger.ts";
import type { RunBudget } from "./budget/of-run.ts";

/** What the runner stands on; bound once per run. */
export interface ToolRunnerPorts {
  readonly source: ToolSourcePort;
  /** The version of each tool that the run uses. */
  readonly versions: ReadonlyMap<string, ToolSpec>;
  /** The policy the run pinned: its ceiling. */
  readonly policy: ToolPolicy;
  /** Absent when the tenant has no policy, which then allows nothing. */
  readonly pin?: PolicyPin | undefined;
  /** Reads the policy that is current when a mutation is about to start. */
  readonly policies: PolicyStore;
  /** Knows which one that is. */
  readonly registry: Pick<PolicyRegistry, "current">;
  readonly approvals: ApprovalDesk;
  readonly approvalSigner: ApprovalSigner;
  readonly principal: Principal;
  /** The first run of the conversation. */
  readonly workflowId: RunId;
  /** Connections that the request named. */
  readonly connectionIds: readonly ConnectionId[];
  readonly authorizationOf: (policy: ToolPolicy) => AuthorizationPort;
  readonly broker: ConnectionBroker;
  readonly ledger: BudgetLedger;
  readonly budget: RunBudget;
  readonly invocations: InvocationLedger;
  /** How long an operator may take to tell what became of an operation. Unit: milliseconds. */
  readonly outcomeWaitMs: number;
  readonly hooks: readonly ToolHook[];
  readonly inbox: PendingSteering;
  readonly journal: RunJournal;
  readonly clock: Clock;
  readonly random: Random;
}

/** What the calls of one run share. */
export interface RunnerState {
  readonly ports: ToolRunnerPorts;
  readonly history: CallHistory;
  readonly lock: FairLock;
  /** Operations that are being carried out; see operationIdOf. */
  readonly inHand: Set<string>;
}

/** One tool call on its way through the gates. */
export interface ActiveCall extends RunnerState {
  readonly call: ToolCall;
  readonly context: ToolInvocationContext;
  /** Aborts when the run is cancelled. */
  readonly signal: AbortSignal;
  readonly tool: BoundToolRuntime;
  readonly startedAtMs: number;
  /** From 1. */
  readonly attempt: number;
  /** What the tool began to run with in an earlier attempt; undefined when it did not. */
  readonly begun?: ToolInvocationContext | undefined;
  /** Why nobody knows what became of an earlier attempt; undefined when that is known. */
  readonly doubt?: ToolFailure | undefined;
}

/** Tells whether running the tool changes anything. */
export function mutates({ effect }: Pick<BoundToolRuntime, "effect">): boolean {
  return effect !== "read_only";
}

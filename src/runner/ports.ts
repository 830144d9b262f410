import type { ResultShelf } from "../capabilities/results.ts";
import type { ApprovalDesk, ApprovalPlaces, ApprovalSigner } from "../capabilities/approval.ts";
import type { AuthorizationPort } from "../capabilities/identity.ts";
import type { BudgetLedger } from "../capabilities/budget.ts";
import type { ImageKeeper } from "../capabilities/files.ts";
import type { Fingerprints } from "../capabilities/fingerprints.ts";
import type { Log } from "../capabilities/log.ts";
import type { UsedNames } from "../capabilities/used-names.ts";
import type { Clock, Random } from "../capabilities/system.ts";
import type { ConnectionBroker } from "../capabilities/connection.ts";
import type { PendingSteering, RunJournal } from "../capabilities/run-journal.ts";
import type { PolicyRegistry, PolicyStore } from "../capabilities/policy.ts";
import type { ToolHook } from "../capabilities/hook.ts";
import type { BoundTools } from "../capabilities/tool.ts";
import type { ConnectionId, RunId } from "../protocol/identity/ids.ts";
import type { Principal } from "../protocol/identity/principal.ts";
import type { Caller } from "../protocol/policy/callers.ts";
import type { ToolPolicy } from "../protocol/policy/document.ts";
import type { PolicyPin } from "../protocol/policy/pin.ts";
import type { ToolSpec } from "../protocol/tool/spec.ts";
import type { RunBudget } from "./budget/of-run.ts";
import type { FlowPort } from "./flow/evidence.ts";
import type { InvocationLedger } from "./invocation/invocation-ledger.ts";

/**
 * Everything that the runner of one run is given. Each group of gates names the few that it uses.
 */
export interface ToolRunnerPorts {
  readonly tools: BoundTools;
  /** The version of each tool that the run uses, by tool id. */
  readonly versions: ReadonlyMap<string, ToolSpec>;
  /** The policy that the run pinned: its ceiling. */
  readonly policy: ToolPolicy;
  /** Absent when the tenant has no policy; nothing is allowed then. */
  readonly pin?: PolicyPin | undefined;
  /** Reads policy documents by their pin. */
  readonly policies: PolicyStore;
  /** Knows which policy is current. */
  readonly registry: Pick<PolicyRegistry, "current">;
  readonly approvals: ApprovalDesk;
  readonly approvalSigner: ApprovalSigner;
  readonly places: ApprovalPlaces;
  readonly fingerprints: Fingerprints;
  readonly usedNames: UsedNames;
  readonly principal: Principal;
  /** The same, as the rules of a policy about callers see it. */
  readonly caller: Caller;
  /** The first run of the conversation. */
  readonly workflowId: RunId;
  /** Connections that the request named. */
  readonly connectionIds: readonly ConnectionId[];
  /** The workspace of the run; undefined when it has none. */
  readonly workspaceId?: string | undefined;
  readonly authorizationOf: (policy: ToolPolicy) => AuthorizationPort;
  readonly broker: ConnectionBroker;
  readonly ledger: BudgetLedger;
  readonly budget: RunBudget;
  readonly invocations: InvocationLedger;
  readonly flow: FlowPort;
  /** How long an operator may take to resolve an unknown outcome. Unit: milliseconds. */
  readonly outcomeWaitMs: number;
  /** How long an operator may report what a failed undo did. Unit: milliseconds. */
  readonly undoWaitMs: number;
  /** When the run's time is up. Unit: Unix milliseconds; infinity without a limit. */
  readonly endsAtMs: () => number;
  readonly images: ImageKeeper;
  /** Absent: nothing keeps results. */
  readonly results?: Pick<ResultShelf, "keep"> | undefined;
  readonly hooks: readonly ToolHook[];
  readonly inbox: PendingSteering;
  readonly journal: RunJournal;
  /** Hands out the next part number of the run's events. */
  readonly nextPart: () => number;
  readonly clock: Clock;
  /** Names the tenant and the run in each line. */
  readonly log: Log;
  readonly random: Random;
}

import type { InputBound, Model, ModelDirectory } from "../capabilities/model.ts";
import type { ContinuedConversation, ReachConversation } from "../capabilities/conversation.ts";
import type { FileShelf } from "../capabilities/files.ts";
import type { ContextHook } from "../capabilities/context.ts";
import type { WorkspaceBinder } from "../capabilities/workspace.ts";
import type { MismatchNotes, SteeringInbox } from "../capabilities/run-journal.ts";
import type { ToolSourcePort } from "../capabilities/tool.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import type { SummaryJob } from "../protocol/conversation/summary-job.ts";
import type { Result } from "../protocol/outcome/result.ts";
import type { RunClaim } from "../protocol/run/claim.ts";
import type { StopReason } from "../protocol/run/facts.ts";
import type { Usage } from "../protocol/model/usage.ts";
import type { ShownTool, ToolSpec } from "../protocol/tool/spec.ts";
import type { ToolRunnerPorts } from "../runner/ports.ts";
import type { InvocationLedger } from "../runner/invocation/invocation-ledger.ts";
import type { ToolRunner } from "../runner/tool-runner.ts";
import type { CallIds } from "./calls/call-ids.ts";
import type { ModelBudget } from "./model/model-budget.ts";
import type { ModelCalls } from "./model/model-calls.ts";
import type { RunEnd } from "./run-end.ts";
import type { RunMemory } from "./run-memory.ts";
import type { Transcript } from "./history/transcript.ts";

/** The capabilities of one run. */
export interface RunPorts extends Omit<
  ToolRunnerPorts,
  | "tools"
  | "versions"
  | "policy"
  | "pin"
  | "principal"
  | "caller"
  | "connectionIds"
  | "budget"
  | "invocations"
  | "flow"
  | "workflowId"
  | "images"
  | "nextPart"
> {
  readonly source: ToolSourcePort;
  readonly model: Model;
  readonly modelOf: ModelDirectory;
  readonly inputBound: InputBound;
  /** Absent: runs have no context of the deployment. */
  readonly contextHook?: ContextHook | undefined;
  /** Absent: the deployment hosts no workspaces. */
  readonly workspaces?: WorkspaceBinder | undefined;
  /** The files of the conversation. */
  readonly shelf: FileShelf;
  /** Absent: the run continues no conversation. */
  readonly conversationOf?: ReachConversation | undefined;
  /** The loop closes it before the run ends. */
  readonly inbox: SteeringInbox;
  /** Absent: nothing is verified. */
  readonly mismatches?: MismatchNotes | undefined;
  /**
   * Aborts the run's signal with the reason `time` once the run has used up its time.
   * Time in which the run waits for people does not count.
   * Contract: the first call sets the time, in all incarnations of the run. Unit: milliseconds.
   */
  readonly limitTime: (maxMs: number) => void;
  /**
   * Aborts the run's signal with the reason `storage` once the run stores more than this.
   * Unit: bytes.
   */
  readonly limitStorage: (maxBytes: number) => void;
}

/** What a run's loop starts from: at first, after a crash, and after a wait. */
export interface LoopInput {
  readonly claim: RunClaim;
  readonly memory: RunMemory;
  /**
   * The start of the first incarnation. It selects the versions of the run's tools.
   * Unit: Unix milliseconds.
   */
  readonly startedAtMs: number;
  /** Aborts when the run is stopped. The reason is a StopReason. */
  readonly signal: AbortSignal;
}

/** Names the reason of a stopped run; undefined while the run may go on. */
export function stopReasonOf(signal: AbortSignal): StopReason | undefined {
  return signal.aborted ? (signal.reason as StopReason) : undefined;
}

/** What one incarnation of a run changes as it goes. */
export interface LoopState {
  readonly transcript: Transcript;
  readonly invocations: InvocationLedger;
  /** Sum over the finished steps. */
  usage: Usage;
  /** What models other than that of the request used. */
  usedByOthers: Readonly<Record<string, Usage>>;
  /** Id of the model that is asked now: the one of the request, or a fallback. */
  model: string;
  /** What summarising earlier turns used. The first step counts it. */
  summaryUsage?: Usage | undefined;
}

/** What a run needs to summarise earlier turns. */
export interface HistorySummaryPorts {
  readonly job: SummaryJob;
  readonly conversation: ContinuedConversation;
  /** The policy shows the data of the conversation to the model that summarises it. */
  readonly isShown: boolean;
}

/** What all steps of one incarnation share. */
export interface RunScope extends Pick<
  RunPorts,
  "model" | "modelOf" | "journal" | "inbox" | "mismatches" | "clock" | "log" | "random"
> {
  readonly claim: RunClaim;
  readonly signal: AbortSignal;
  readonly state: LoopState;
  readonly modelCalls: ModelCalls;
  readonly modelBudget: ModelBudget;
  /** The tools that policy lets the model see. The runner may withdraw some of them later. */
  readonly tools: readonly ToolSpec[];
  /** The tools that the client declared and runs itself. No tool of the source has such a name. */
  readonly clientTools: readonly ShownTool[];
  /** What stands before the conversation, or how the run ends without it. */
  readonly prompt: Result<readonly TranscriptMessage[], RunEnd>;
  readonly runner: ToolRunner;
  /** Writes the summary that the run was asked for. Absent: it was not, or has tried already. */
  readonly summary?: HistorySummaryPorts | undefined;
  readonly callIds: CallIds;
  /** The policy that the run pinned cannot be read any more, so its limits are unknown. */
  readonly isPolicyLost: boolean;
  /** Hands out the next part number of the run's events. */
  nextPart(): number;
}

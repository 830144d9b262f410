import type { Clock, Random } from "../capabilities/system.ts";
import type { SteeringInbox, RunJournal } from "../capabilities/run-journal.ts";
import type { Model } from "../capabilities/model.ts";
import type { RunClaim } from "../protocol/run/claim.ts";
import type { ToolSpec } from "../protocol/tool/spec.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import type { InvocationLedger } from "../runner/invocation-ledger.ts";
import type { ToolRunner } from "../runner/tool-runner.ts";
import type { CallIds } from "./call-ids.ts";
import type { ModelBudget } from "./model-budget.ts";
import type { ModelCalls } from "./model-calls.ts";

/** What every step of a run shares. */
export interface StepScope {
  readonly claim: RunClaim;
  readonly model: Model;
  readonly modelCalls: ModelCalls;
  readonly modelBudget: ModelBudget;
  /** What the model is shown, but for the tools that the runner has withdrawn. */
  readonly tools: readonly ToolSpec[];
  readonly runner: ToolRunner;
  readonly invocations: InvocationLedger;
  readonly journal: RunJournal;
  readonly inbox: SteeringInbox;
  readonly callIds: CallIds;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** The conversation; grows as the run goes on. */
  readonly transcript: TranscriptMessage[];
  /** Hands out event part numbers. */
  nextPart(): number;
}

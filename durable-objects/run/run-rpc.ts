import type { ResultAnswer } from "../../src/capabilities/results.ts";
import { DurableObject } from "cloudflare:workers";
import type {
  ConversationAnswer,
  ConversationMethods,
  ErasureAnswer,
  FeedbackAnswer,
  GivenFeedback,
  PageAnswer,
  RangeAnswer,
  ShownAnswer,
  SummaryAnswer,
  TurnAnswer,
  TurnRequest,
  TurnsAnswer,
  TurnsQuery,
  WindowAnswer,
  WrittenSummary,
} from "../../src/capabilities/conversation.ts";
import type {
  ApprovalAddress,
  ApprovalAnswer,
  BusyAnswer,
  CallAnswer,
  ContextAnswer,
  DecisionAnswer,
  FilesAnswer,
  ImageAnswer,
  NoRun,
  OutcomeAnswer,
  OutcomeReport,
  ReplayAnswer,
  ReviewReport,
  RunAnswer,
  RunErasure,
  RunMethods,
  SteerAnswer,
  Steering,
  UndoAnswer,
  UndoRequest,
} from "../../src/capabilities/run.ts";
import type { ApprovalDecision } from "../../src/protocol/approval/decision.ts";
import type { RawEnv } from "../../src/env.ts";
import type { SummaryJob } from "../../src/protocol/conversation/summary-job.ts";
import type { DeliveredPage, HistoryReference } from "../../src/protocol/conversation/turn.ts";
import type { RunId } from "../../src/protocol/identity/ids.ts";
import type { ToolPolicy } from "../../src/protocol/policy/document.ts";
import type { Viewer } from "../../src/protocol/identity/viewer.ts";
import type { UndoReport } from "../../src/protocol/invocation/undo.ts";

const UNKNOWN: NoRun = { kind: "unknown" };

/** A claimed run, and the conversation that begins with it. */
interface ClaimedParts {
  readonly answers: RunMethods;
  readonly conversation: ConversationMethods;
}

/**
 * The typed RPC of a run's object, as the platform needs it: methods of its class. Contract: an
 * object that nobody has claimed answers `unknown`.
 */
export abstract class RunRpc
  extends DurableObject<RawEnv>
  implements RunMethods, ConversationMethods
{
  /**
   * Gives the run, as its callers reach it; undefined when nobody has claimed it. It is no method,
   * because the platform makes each method an RPC. Fails: throws when this code cannot read the
   * storage.
   */
  protected abstract readonly claimed: () => ClaimedParts | undefined;

  async state(viewer: Viewer): Promise<RunAnswer> {
    return (await this.claimed()?.answers.state(viewer)) ?? UNKNOWN;
  }

  async cancel(viewer: Viewer): Promise<RunAnswer> {
    return (await this.claimed()?.answers.cancel(viewer)) ?? UNKNOWN;
  }

  async steer(viewer: Viewer, steering: Steering): Promise<SteerAnswer> {
    return (await this.claimed()?.answers.steer(viewer, steering)) ?? UNKNOWN;
  }

  async resolveOutcome(viewer: Viewer, report: OutcomeReport): Promise<OutcomeAnswer> {
    return (await this.claimed()?.answers.resolveOutcome(viewer, report)) ?? UNKNOWN;
  }

  async undo(viewer: Viewer, request: UndoRequest): Promise<UndoAnswer> {
    return (await this.claimed()?.answers.undo(viewer, request)) ?? UNKNOWN;
  }

  async undone(report: UndoReport): Promise<void> {
    await this.claimed()?.answers.undone(report);
  }

  async review(viewer: Viewer, report: ReviewReport): Promise<OutcomeAnswer> {
    return (await this.claimed()?.answers.review(viewer, report)) ?? UNKNOWN;
  }

  async page(viewer: Viewer): Promise<PageAnswer> {
    return (await this.claimed()?.answers.page(viewer)) ?? UNKNOWN;
  }

  async call(viewer: Viewer, requestHash?: string): Promise<CallAnswer> {
    return (await this.claimed()?.answers.call(viewer, requestHash)) ?? UNKNOWN;
  }

  async context(viewer: Viewer): Promise<ContextAnswer> {
    return (await this.claimed()?.answers.context(viewer)) ?? UNKNOWN;
  }

  async files(viewer: Viewer, hashes: readonly string[]): Promise<FilesAnswer> {
    return (await this.claimed()?.answers.files(viewer, hashes)) ?? UNKNOWN;
  }

  async image(viewer: Viewer, invocation: number, number: number): Promise<ImageAnswer> {
    return (await this.claimed()?.answers.image(viewer, invocation, number)) ?? UNKNOWN;
  }

  async result(viewer: Viewer, invocation: number): Promise<ResultAnswer | NoRun> {
    return (await this.claimed()?.answers.result(viewer, invocation)) ?? UNKNOWN;
  }

  async approval(address: ApprovalAddress): Promise<ApprovalAnswer> {
    return (await this.claimed()?.answers.approval(address)) ?? UNKNOWN;
  }

  async decide(address: ApprovalAddress, decision: ApprovalDecision): Promise<DecisionAnswer> {
    return (await this.claimed()?.answers.decide(address, decision)) ?? UNKNOWN;
  }

  async evidence(viewer: Viewer): ReturnType<RunMethods["evidence"]> {
    return (await this.claimed()?.answers.evidence(viewer)) ?? UNKNOWN;
  }

  async replay(viewer: Viewer, under?: ToolPolicy): Promise<ReplayAnswer> {
    return (await this.claimed()?.answers.replay(viewer, under)) ?? UNKNOWN;
  }

  async busy(viewer: Viewer): Promise<BusyAnswer> {
    return (await this.claimed()?.answers.busy(viewer)) ?? UNKNOWN;
  }

  async erase(viewer: Viewer): Promise<RunErasure> {
    return (await this.claimed()?.answers.erase(viewer)) ?? UNKNOWN;
  }

  async eraseConversation(viewer: Viewer): Promise<ErasureAnswer> {
    return (await this.claimed()?.conversation.eraseConversation(viewer)) ?? UNKNOWN;
  }

  async shown(viewer: Viewer): Promise<ShownAnswer> {
    return (await this.claimed()?.answers.shown(viewer)) ?? UNKNOWN;
  }

  async conversation(viewer: Viewer): Promise<ConversationAnswer> {
    return (await this.claimed()?.conversation.conversation(viewer)) ?? UNKNOWN;
  }

  async turns(viewer: Viewer, query: TurnsQuery): Promise<TurnsAnswer> {
    return (await this.claimed()?.conversation.turns(viewer, query)) ?? UNKNOWN;
  }

  async rename(viewer: Viewer, title: string): Promise<ConversationAnswer> {
    return (await this.claimed()?.conversation.rename(viewer, title)) ?? UNKNOWN;
  }

  async giveFeedback(viewer: Viewer, given: GivenFeedback): Promise<FeedbackAnswer> {
    return (await this.claimed()?.conversation.giveFeedback(viewer, given)) ?? UNKNOWN;
  }

  async openTurn(viewer: Viewer, request: TurnRequest): Promise<TurnAnswer> {
    return (await this.claimed()?.conversation.openTurn(viewer, request)) ?? UNKNOWN;
  }

  async readWindow(runId: RunId, history: HistoryReference): Promise<WindowAnswer> {
    return (await this.claimed()?.conversation.readWindow(runId, history)) ?? { kind: "erased" };
  }

  async readRange(runId: RunId, job: SummaryJob): Promise<RangeAnswer> {
    return (await this.claimed()?.conversation.readRange(runId, job)) ?? { kind: "gone" };
  }

  async keepSummary(
    runId: RunId,
    job: SummaryJob,
    written: WrittenSummary,
  ): Promise<SummaryAnswer> {
    const answer = await this.claimed()?.conversation.keepSummary(runId, job, written);
    return answer ?? { kind: "gone" };
  }

  async keepTurn(runId: RunId, delivered: DeliveredPage): Promise<void> {
    await this.claimed()?.conversation.keepTurn(runId, delivered);
  }
}

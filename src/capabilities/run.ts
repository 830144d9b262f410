import type { CallResult, ResultAnswer } from "./results.ts";
import type { ActorId, ConnectionId, RunId } from "../protocol/identity/ids.ts";
import type { Viewer } from "../protocol/identity/viewer.ts";
import type { EventPosition } from "../protocol/run/event-id.ts";
import type { ConversationMethods, PageAnswer, ShownAnswer } from "./conversation.ts";
import type { ApprovalDecision } from "../protocol/approval/decision.ts";
import type { ApprovalView } from "../protocol/approval/view.ts";
import type { VoteRefusal } from "../protocol/approval/check-vote.ts";
import type { LastingOffer } from "../protocol/consent/lasting.ts";
import type { JsonObject } from "../protocol/json/value.ts";
import type { FieldError } from "../protocol/outcome/observation.ts";
import type { HookContext } from "../protocol/assistant/context.ts";
import type { AssistantPin } from "../protocol/assistant/pin.ts";
import type { Principal } from "../protocol/identity/principal.ts";
import type { RunClaim } from "../protocol/run/claim.ts";
import type { EventsKind, StartKind } from "../protocol/run/answer-kind.ts";
import type { HistoryReference } from "../protocol/conversation/turn.ts";
import type { ToolPolicy } from "../protocol/policy/document.ts";
import type { ReplayOutcome } from "../protocol/run/replay.ts";
import type { RunState } from "../protocol/run/state.ts";
import type { BusyReason } from "../protocol/conversation/erasure.ts";
import type { KeptFile } from "../protocol/conversation/file-part.ts";
import type { RunTrace } from "../protocol/run/trace.ts";
import type { UndoReport, UndoStatus } from "../protocol/invocation/undo.ts";
import type { DirectCall } from "../protocol/run/direct-call.ts";

/**
 * No answer about a run. `unknown`: no such run exists, or the caller may not see it. `gone`: its
 * data is deleted.
 */
export type NoRun = { readonly kind: "unknown" | "gone" };

export type RunAnswer =
  | {
      readonly kind: "run";
      readonly state: RunState;
      /** Where the newest message stands that a client holds as one of its own. */
      readonly steeredAt?: EventPosition;
    }
  | NoRun;

/** A run of one direct call, and the result of the call once it has ended. */
export type CallAnswer =
  | { readonly kind: "call"; readonly state: RunState; readonly result?: CallResult }
  /** The run has not ended and does not wait. */
  | { readonly kind: "running" }
  /** Another request has the same idempotency key. */
  | { readonly kind: "other_request" }
  | NoRun;

/** What the model got as context: of the deployment's hook, and of the request. */
export type ContextAnswer =
  | {
      readonly kind: "context";
      readonly assistant?: AssistantPin;
      readonly deployment?: HookContext;
      readonly request?: JsonObject;
      /** The earlier turns that the model was shown, and how many were left out. */
      readonly history?: HistoryReference;
    }
  | NoRun;

/** What deciding a finished run again came to. */
export type ReplayAnswer = ReplayOutcome | NoRun;

export type FilesAnswer =
  | { readonly kind: "files"; readonly files: Readonly<Record<string, string>> }
  | NoRun;

/** Where the image of a call's content is kept. */
export type ImageAnswer =
  | { readonly kind: "image"; readonly file: KeptFile }
  | { readonly kind: "unknown_image" }
  | NoRun;

/** A steering message for a run. Two messages under one key count as one message. */
export interface Steering {
  readonly text: string;
  /** Identifies the request and its sender. */
  readonly requestKey?: string;
  /** The client's own id of a message that it holds. */
  readonly messageId?: string;
}

export type SteerAnswer =
  /** `at`: the position of the event that tells readers of the message. */
  | { readonly kind: "taken"; readonly state: RunState; readonly at: EventPosition }
  /** The run has ended, or is about to end, so no step would read the message. */
  | { readonly kind: "ended" }
  /** Too many messages wait for the next step. */
  | { readonly kind: "full" }
  /** Another message has the same key. */
  | { readonly kind: "key_reused" }
  | NoRun;

/** Report of an operator that resolves the unknown outcome of a call. */
export interface OutcomeReport {
  /** Number of the invocation within its run. */
  readonly invocation: number;
  readonly outcome: "committed" | "not_committed";
  readonly by: ActorId;
}

/** Report of an operator that a mismatch after a completed call was reviewed. */
export type ReviewReport = Pick<OutcomeReport, "invocation" | "by">;

export type OutcomeAnswer =
  /** The outcome is resolved as reported. */
  | { readonly kind: "resolved"; readonly state: RunState }
  /** The outcome is not unknown any more, or an earlier report resolved it differently. */
  | { readonly kind: "not_awaited" }
  | { readonly kind: "unknown_invocation" }
  | NoRun;

/** Who asks to undo which call, and with which tools the asker may. */
export interface UndoRequest {
  readonly invocation: number;
  readonly toolIds: readonly string[];
  /** Present for an embed token. */
  readonly page?: PageReach;
}

/** What the calls of a page may reach. */
export interface PageReach {
  /** Undefined: the token binds none, so a request names them. */
  readonly connectionIds: readonly ConnectionId[] | undefined;
  readonly workspaceId: string | undefined;
}

/** The call that undoes another one, and the run that makes it. Both are fixed by the claim. */
export interface UndoClaim {
  readonly runId: RunId;
  readonly call: DirectCall;
  readonly connectionIds?: readonly ConnectionId[];
  readonly workspaceId?: string;
}

export type UndoAnswer =
  | { readonly kind: "claimed"; readonly status: UndoStatus; readonly claim: UndoClaim }
  /** The call changed nothing, has not completed, or nothing can undo it. */
  | { readonly kind: "not_undoable" }
  /** Policy does not allow the caller the tool that undoes the call. */
  | { readonly kind: "not_allowed" }
  | { readonly kind: "unknown_invocation" }
  | NoRun;

/** Names one approval of a run, and the person who reads or decides it. */
export interface ApprovalAddress {
  readonly invocation: number;
  readonly generation: number;
  readonly principal: Principal;
}

export type ApprovalAnswer =
  | {
      readonly kind: "approval";
      readonly approval: ApprovalView;
      /** Why the caller may not approve; absent when the caller may. */
      readonly mayNot?: VoteRefusal | "closed";
      /** What the caller may consent to beyond the call; absent: nothing. */
      readonly lasting?: LastingOffer;
    }
  /** No such approval exists, or the caller may not see it. */
  | { readonly kind: "unknown_approval" }
  | NoRun;

export type DecisionAnswer =
  | { readonly kind: "decided"; readonly approval: ApprovalView }
  /** An earlier decision, or the expiry, has closed the approval. */
  | { readonly kind: "closed"; readonly approval: ApprovalView }
  | { readonly kind: "not_allowed"; readonly why: VoteRefusal | "not_bulk" | "lasting_not_offered" }
  | {
      readonly kind: "arguments_refused";
      readonly errors: readonly FieldError[];
      /** The policy refused the arguments, not the tool. */
      readonly isByPolicy?: boolean;
    }
  /** The current policy or the tools cannot be read. The decision was not stored. */
  | { readonly kind: "policy_unavailable" | "tools_unavailable" }
  | { readonly kind: "unknown_approval" }
  | NoRun;

export type BusyAnswer = { readonly kind: "busy"; readonly why: readonly BusyReason[] } | NoRun;

export type RunErasure = { readonly kind: "erased" | "pending" } | NoRun;

/** Who opens a stream of a run, and in which wire. */
export interface RunReader {
  readonly viewer: Viewer;
  /** Name of a client wire. */
  readonly wire: string;
}

/** An event stream of a run. The Worker hands `response` through untouched. */
interface StreamAnswer {
  readonly kind: "stream";
  readonly response: Response;
}

/**
 * Answer to a request that starts or repeats a run. `running`: the run of this key has not ended.
 * `other_request`: another request body started the run of this key. `unknown_wire`: the object
 * does not know the wire of the reader, which a deploy can cause.
 */
export type StartAnswer = StreamAnswer | { readonly kind: Exclude<StartKind, "stream"> };

/**
 * Answer to a request for events. `ended`: the run ended at this position. `position_unknown`: the
 * run never reached the position. `too_many_readers`: no further stream of this run may open now.
 */
export type EventsAnswer = StreamAnswer | { readonly kind: Exclude<EventsKind, "stream"> };

/**
 * Typed RPC of the object that owns a run: everything but its event streams.
 * Contract: a run that was never started, or that the caller may not see, answers `unknown`; a run
 * of which only the tombstone is left answers `gone`. During a deploy the Worker and an object may
 * run different versions, so names and shapes of methods hold for one release: a new field is
 * optional, a new kind is one that the previous Worker refuses
 * (docs/decisions/2026-11-22-versions-of-objects.md).
 */
export interface RunMethods {
  state(viewer: Viewer): Promise<RunAnswer>;
  /** Stops the run; answers its state after the stop. Contract: idempotent. */
  cancel(viewer: Viewer): Promise<RunAnswer>;
  /** Sends a steering message. Contract: a message that is `taken` is never lost. */
  steer(viewer: Viewer, steering: Steering): Promise<SteerAnswer>;
  /** Resolves an unknown outcome. Contract: the first report stays. */
  resolveOutcome(viewer: Viewer, report: OutcomeReport): Promise<OutcomeAnswer>;
  /**
   * Claims a completed call for the run that undoes it. Contract: until that run has released the
   * claim, every answer names the same run.
   */
  undo(viewer: Viewer, request: UndoRequest): Promise<UndoAnswer>;
  /**
   * Takes the report of the run that undoes a call. Contract: idempotent; a report of another run
   * changes nothing. Only the object of that run sends it.
   */
  undone(report: UndoReport): Promise<void>;
  /** Takes a reviewed mismatch off the list of operators. Contract: the first review stays. */
  review(viewer: Viewer, report: ReviewReport): Promise<OutcomeAnswer>;
  /** Reads what the run adds to its conversation. A direct call adds nothing: `unknown`. */
  page(viewer: Viewer): Promise<PageAnswer>;
  /** Tells what keeps the run from being deleted. Contract: only its conversation asks. */
  busy(viewer: Viewer): Promise<BusyAnswer>;
  /**
   * Deletes what was said in the run, and the runs that undid its calls. Contract: idempotent;
   * nothing of it is busy. `pending`: ask again later. Only its conversation asks.
   */
  erase(viewer: Viewer): Promise<RunErasure>;
  /** Reads what the run shows so far in its conversation. */
  shown(viewer: Viewer): Promise<ShownAnswer>;
  /** Reads the run of one call that a request with this hash started. */
  call(viewer: Viewer, requestHash?: string): Promise<CallAnswer>;
  /** Reads what the run knew of its situation. Contract: the caller may read the audit log. */
  context(viewer: Viewer): Promise<ContextAnswer>;
  /** Reads what the run stored about its decisions. No RPC may have the name `trace`. */
  evidence(viewer: Viewer): Promise<{ readonly kind: "trace"; readonly trace: RunTrace } | NoRun>;
  /**
   * Decides a finished run again, with tools forbidden; under another policy, each of its calls.
   * Contract: no effects, nothing is written; the caller may read the audit log, or write the
   * policy.
   */
  replay(viewer: Viewer, under?: ToolPolicy): Promise<ReplayAnswer>;
  /**
   * Reads files that the run or its conversation keeps, in base64. Leaves out those that it does
   * not keep.
   */
  files(viewer: Viewer, hashes: readonly string[]): Promise<FilesAnswer>;
  /** Finds an image of a call's content. Images count from 1. */
  image(viewer: Viewer, invocation: number, number: number): Promise<ImageAnswer>;
  /** Reads what a call returned and nobody was shown whole; records who reads a raw output. */
  result(viewer: Viewer, invocation: number): Promise<ResultAnswer | NoRun>;
  approval(address: ApprovalAddress): Promise<ApprovalAnswer>;
  /** Contract: the first decision stays; the same decision again gets the same answer. */
  decide(address: ApprovalAddress, decision: ApprovalDecision): Promise<DecisionAnswer>;
}

/** All typed RPC of the object that owns a run: `invoke` claims a run that does not exist yet. */
export type RunObjectMethods = RunMethods & ConversationMethods & Pick<RunGateway, "invoke">;

/** Reaches the object that owns a run. Contract: the caller has verified the id. */
export interface RunGateway {
  /** Claims and starts a run; answers as `repeat` when the run is claimed. */
  start(claim: RunClaim, wire: string): Promise<StartAnswer>;
  /**
   * Claims and starts a run of one call; answers once the call has ended or waits. Answers as
   * `call` when the run is claimed.
   */
  invoke(claim: RunClaim): Promise<CallAnswer>;
  /**
   * Answers a repeated request under an idempotency key: with the whole stream once the run has
   * ended.
   */
  repeat(runId: RunId, reader: RunReader, requestHash: string): Promise<StartAnswer>;
  /** Answers with the events after a position; without one, from the first event. */
  events(runId: RunId, reader: RunReader, after: EventPosition | undefined): Promise<EventsAnswer>;
  /** The typed RPC of one run, and of the conversation that begins with it. */
  of(runId: RunId): RunMethods & ConversationMethods;
}

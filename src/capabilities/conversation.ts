import type { HistoryRule } from "../protocol/assistant/document.ts";
import type { HistoryFailure } from "../protocol/conversation/client-history.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import type { SummaryJob } from "../protocol/conversation/summary-job.ts";
import type { DeliveredPage, HistoryReference } from "../protocol/conversation/turn.ts";
import type { BusyRun } from "../protocol/conversation/erasure.ts";
import type { KeptFile } from "../protocol/conversation/file-part.ts";
import type { ShownRun, ShownTurn } from "../protocol/conversation/shown.ts";
import type { Feedback } from "../protocol/conversation/feedback.ts";
import type { ListPage } from "../protocol/list/page.ts";
import type { EventPosition } from "../protocol/run/event-id.ts";
import type { RunStatus } from "../protocol/run/state.ts";
import type { RunId } from "../protocol/identity/ids.ts";
import type { RunOwner, Viewer } from "../protocol/identity/viewer.ts";

/** The object keeps no conversation, or none of the caller; or its data is deleted. */
export type NoConversation = { readonly kind: "unknown" | "gone" | "erased" };

/** What a client wants to say next in a conversation. The Worker has checked all of it. */
export interface TurnRequest {
  /** The run that the turn becomes, unless the turn is known. */
  readonly runId: RunId;
  /** The owner of that run. */
  readonly owner: RunOwner;
  /** The turn to continue, as the client named it, or `root`. Absent: the head. */
  readonly parentId?: string;
  /** The head that the client knows, as the client named it. */
  readonly headId?: string;
  /** The client's own id of the message. */
  readonly messageId?: string;
  /** The same message is answered anew. */
  readonly isAgain?: true;
  /** The turn to continue is followed by one message under this id, and no other. */
  readonly isOnce?: true;
  /** The key under which the turn before would take the message, were it not over. */
  readonly saidKey?: string;
  /** `sha256:…` over the new messages and their files. */
  readonly hash: string;
  readonly sent: readonly TranscriptMessage[];
  /** Longest window. Unit: bytes of JSON. */
  readonly maxHistoryBytes: number;
  /** That of the assistant. */
  readonly historyRule?: HistoryRule | undefined;
}

/** A turn that its run may claim. */
export interface OpenedTurn {
  readonly kind: "turn";
  readonly runId: RunId;
  readonly conversationId: RunId;
  /** Unit: Unix milliseconds. */
  readonly openedMs: number;
  /** Absent: the turn begins a branch at the root. */
  readonly history?: HistoryReference;
  /** The messages behind the reference. */
  readonly window: readonly TranscriptMessage[];
  /** What the run is asked to summarise. No other run is asked for it meanwhile. */
  readonly summarise?: SummaryJob;
  /** Hashes of sent files that the conversation keeps already. */
  readonly kept: readonly string[];
}

export type TurnAnswer =
  | OpenedTurn
  /** This run continues a conversation of another object. */
  | { readonly kind: "elsewhere"; readonly conversationId: RunId }
  /** The turn to continue has not ended: this run goes on. */
  | { readonly kind: "busy"; readonly runId: RunId }
  /** Another turn is the head by now. */
  | { readonly kind: "moved"; readonly headId: RunId }
  | { readonly kind: "unknown_parent" }
  /** The turn to continue alone is longer than the window. */
  | { readonly kind: "too_long" }
  | { readonly kind: "files_too_large" }
  /** Another message under the same id follows the turn, which takes one. */
  | { readonly kind: "answered" }
  | { readonly kind: "too_many_turns" }
  | { readonly kind: "misfit"; readonly failure: HistoryFailure }
  | NoConversation;

export type WindowAnswer =
  | { readonly kind: "window"; readonly messages: readonly TranscriptMessage[] }
  /** The conversation, or this path, is gone; or it holds something else. */
  | { readonly kind: "erased" | "changed" };

/** What a run has to summarise. */
export type RangeAnswer =
  | {
      readonly kind: "range";
      /** An earlier summary, and then the messages of the turns after it, shortened. */
      readonly messages: readonly TranscriptMessage[];
      /** Turns that the summary will stand for. */
      readonly turns: number;
    }
  /** The conversation or the path is gone, or another run is to summarise it. */
  | { readonly kind: "gone" };

/** A summary as a model wrote it. */
export interface WrittenSummary {
  readonly text: string;
  readonly turns: number;
  readonly model: string;
}

export type SummaryAnswer =
  /** The window with the summary. */
  | {
      readonly kind: "window";
      readonly history: HistoryReference;
      readonly messages: readonly TranscriptMessage[];
    }
  | { readonly kind: "gone" };

/** What a run asks of the conversation that it continues. */
export type ContinuedConversation = Pick<
  ConversationMethods,
  "readWindow" | "readRange" | "keepSummary"
>;

/** Reaches the conversation that a run continues. Fails: its methods throw. */
export type ReachConversation = (conversationId: RunId) => ContinuedConversation;

/** What the run of a turn tells its conversation. */
export type PageAnswer =
  | { readonly kind: "page"; readonly delivered: DeliveredPage }
  | { readonly kind: "running" }
  | { readonly kind: "unknown" | "gone" };

/** A conversation in one look. Times are ISO 8601, UTC. */
export interface ConversationState {
  readonly conversationId: RunId;
  readonly title?: string;
  /** How the newest turn that the viewer sees stands. */
  readonly status: RunStatus;
  readonly headId: RunId;
  readonly turns: number;
  readonly createdAt: string;
}

export type ConversationAnswer =
  | { readonly kind: "conversation"; readonly state: ConversationState }
  | NoConversation;

/** Feedback for the answer of one turn; null takes it back. */
export interface GivenFeedback {
  /** The run of the turn, as the client named it. */
  readonly runId: string;
  readonly feedback: Feedback | null;
  /** ISO 8601, UTC. */
  readonly at: string;
}

export type FeedbackAnswer = { readonly kind: "given" | "unknown_turn" | "busy" } | NoConversation;

/** Selects turns, the newest first unless it says otherwise. */
export interface TurnsQuery {
  readonly limit: number;
  /** Number of the last turn that was shown. */
  readonly after?: number;
  readonly isOldestFirst?: boolean;
  /** Ended turns come with the content of their files. */
  readonly withFiles?: boolean;
}

/** A file that a conversation keeps: base64. */
export interface ExportedFile extends Pick<KeptFile, "hash" | "mediaType"> {
  readonly base64: string;
}

/** A turn, or where the Worker asks for what its run shows so far. */
export type ListedTurn =
  | (ShownTurn & { readonly kept?: readonly ExportedFile[] })
  | (Pick<ShownTurn, "runId" | "parentId" | "messageId"> & { readonly isOpen: true });

export type TurnsAnswer =
  | { readonly kind: "turns"; readonly page: ListPage<ListedTurn, number> }
  | NoConversation;

export type ErasureAnswer =
  /** `turnsLeft`: turns whose runs still deliver something; the object goes on by itself. */
  | { readonly kind: "erasing"; readonly turnsLeft: number }
  | { readonly kind: "busy"; readonly runs: readonly BusyRun[] }
  | NoConversation;

export type ShownAnswer =
  /** `at`: the last event that the run has shown. */
  | { readonly kind: "shown"; readonly run: ShownRun; readonly at: EventPosition }
  | { readonly kind: "unknown" | "gone" };

/**
 * Typed RPC of the object of a conversation, which is that of its first run. Shapes hold for one
 * release, as in RunMethods.
 */
export interface ConversationMethods {
  /**
   * Stores a turn before its run is claimed. Contract: the same request again gets the same run.
   * Every refusal stores nothing.
   */
  openTurn(viewer: Viewer, request: TurnRequest): Promise<TurnAnswer>;
  /** Reads the window of a run again. Contract: only the object of that run asks. */
  readWindow(runId: RunId, history: HistoryReference): Promise<WindowAnswer>;
  /** Reads what a run has to summarise. Contract: only the object of that run asks. */
  readRange(runId: RunId, job: SummaryJob): Promise<RangeAnswer>;
  /**
   * Stores the summary that a run has written, and answers what its model is shown from now on.
   * Contract: the first summary of a turn stays. Only the object of that run sends it.
   */
  keepSummary(runId: RunId, job: SummaryJob, written: WrittenSummary): Promise<SummaryAnswer>;
  /**
   * Stores the page of a turn. Contract: the first page stays; a page of an unknown turn changes
   * nothing. Only the object of that run sends it.
   */
  keepTurn(runId: RunId, delivered: DeliveredPage): Promise<void>;
  /** Reads the conversation, as far as the viewer may see it. */
  conversation(viewer: Viewer): Promise<ConversationAnswer>;
  turns(viewer: Viewer, query: TurnsQuery): Promise<TurnsAnswer>;
  /** Gives the conversation a title of its owner. Contract: idempotent. */
  rename(viewer: Viewer, title: string): Promise<ConversationAnswer>;
  /** Stores feedback of the owner. Contract: idempotent; the newest one counts. */
  giveFeedback(viewer: Viewer, given: GivenFeedback): Promise<FeedbackAnswer>;
  /**
   * Deletes the conversation with all its runs. Contract: idempotent; a crash changes nothing but
   * the time that it takes. From its beginning on, every post and every late page is refused.
   */
  eraseConversation(viewer: Viewer): Promise<ErasureAnswer>;
}

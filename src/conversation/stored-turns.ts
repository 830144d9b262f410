import type { WrittenSummary } from "../capabilities/conversation.ts";
import type { Feedback } from "../protocol/conversation/feedback.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import type { TurnPage } from "../protocol/conversation/turn.ts";
import type { RunId } from "../protocol/identity/ids.ts";
import type { RunOwner } from "../protocol/identity/viewer.ts";
import type { Labels } from "../protocol/label/source.ts";

/** One post of a conversation, and the run that answers it. */
export interface Turn {
  readonly number: number;
  readonly runId: RunId;
  /** Number of the turn before; null at a root. */
  readonly parent: number | null;
  /** Number of the first turn of its path; its own at a root. */
  readonly root: number;
  /** Turns before it on its path. */
  readonly depth: number;
  readonly messageId: string | null;
  /** Hash of what was sent; null for the first turn. */
  readonly hash: string | null;
  /** The run that the `Idempotency-Key` of the first post stands for. */
  readonly keyRunId?: RunId;
  /** Owner of its run. */
  readonly owner: RunOwner;
  /** Owners on its path who are not the owner of the conversation. */
  readonly others: readonly RunOwner[];
  readonly openedMs: number;
  /** What its person thinks of the answer. */
  readonly feedback?: Feedback;
  /** Null until its page is stored. */
  readonly end: TurnEnd | null;
  /** The summary of the path up to it; absent unless a run was asked for one. */
  readonly summary?: TurnSummary;
}

/** A summary of the path from the root up to a turn, that turn included. */
export interface TurnSummary {
  /** Number of the turn whose run was asked for it. */
  readonly by: number;
  /** Absent until it is stored. */
  readonly stored?: Omit<WrittenSummary, "text"> & {
    /** Of its text. */
    readonly hash: string;
    /** Size of its message. Unit: bytes of JSON. */
    readonly bytes: number;
  };
}

/** What is known of a page without reading it. */
export interface TurnEnd {
  readonly endedMs: number;
  readonly hash: string;
  /** Size of its messages. Unit: bytes of JSON. */
  readonly bytes: number;
  /** Likewise once they are shortened. */
  readonly shortBytes: number;
  /** Those of the whole path. */
  readonly labels: Labels;
  /** The title that a tool gave in this turn. */
  readonly title: string | null;
  /** Keys of the messages that were said to its run while it went on. */
  readonly saidKeys: readonly string[];
}

/** What the conversation knows of a page that it stores. */
export type TurnFacts = Pick<TurnEnd, "bytes" | "shortBytes" | "labels">;

/** What a reader needs of the turns of a conversation. */
export type ReadTurns = Pick<StoredTurns, "at" | "newest" | "oldest" | "page">;

/**
 * The turns of a conversation and their pages.
 * Contract: synchronous; a read shows the last write of the same turn of the event loop.
 */
export interface StoredTurns {
  /** The conversation has turns. A chat of one run has none until somebody continues it. */
  readonly exist: boolean;
  at(number: number): Turn;
  find(number: number): Turn | undefined;
  /** Finds the turn of a run. */
  of(runId: string): Turn | undefined;
  /** A turn, the one before it, and so on to the root. */
  path(from: Turn): Iterable<Turn>;
  /** Turns, the newest first. */
  newest(): Iterable<Turn>;
  /** Turns after a number, the oldest first. */
  oldest(after: number): Iterable<Turn>;
  /** Finds the turns with a client's message id, the newest first. */
  withMessage(messageId: string): readonly Turn[];
  /** Number of the next turn. */
  readonly next: number;
  /** Stores a turn. The first one creates the tables. */
  add(turn: Turn): void;
  /** Stores the page of a turn, and what is known of it. */
  end(number: number, page: TurnPage, known: TurnFacts): void;
  /** Stores what its person thinks; null: nothing any more. */
  rate(number: number, feedback: Feedback | null): void;
  /** Stores what is known of the summary up to a turn, and its text once there is one. */
  summarise(number: number, summary: TurnSummary, text?: string): void;
  /** Reads the text of a stored summary. */
  summary(number: number): string;
  remove(number: number): void;
  page(number: number): TurnPage;
  /** Reads the messages of each of the turns. */
  messages(numbers: readonly number[]): readonly (readonly TranscriptMessage[])[];
}

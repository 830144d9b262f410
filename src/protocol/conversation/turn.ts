import type { RunId } from "../identity/ids.ts";
import type { Labelled } from "../label/source.ts";
import type { TranscriptMessage } from "./message.ts";
import type { ShownRun } from "./shown.ts";

/**
 * The earlier turns that a model is shown, as a run refers to them. Its sources are those of the
 * whole path from the root, also of turns that were left out.
 */
export interface HistoryReference extends Labelled {
  /** The turn before: a run of the conversation. */
  readonly after: RunId;
  /** `sha256:…` over what the window holds. */
  readonly hash: string;
  /** Turns in the window: the newest ones. */
  readonly turns: number;
  /** Of these, the oldest ones, with shortened results. */
  readonly shortened: number;
  /** Older turns that did not fit, and for which no summary stands. */
  readonly leftOut: number;
  /** What stands before the window for older turns. */
  readonly summary?: HistorySummary;
}

/** A summary of a path from its root up to a turn, as a run refers to it. */
export interface HistorySummary {
  /** The last turn that it stands for: a run of the conversation. */
  readonly upTo: RunId;
  /** How many turns it stands for. */
  readonly turns: number;
  /** The model that wrote it. */
  readonly model: string;
}

/** What a repetition of the post that begins a conversation is known by. */
export interface FirstPost {
  /** `sha256:…` over what was sent. */
  readonly hash: string;
  /** The client's own id of the message. */
  readonly messageId?: string;
  /** The run that its `Idempotency-Key` stands for. */
  readonly keyRunId?: RunId;
}

/** What a turn adds to its conversation, once its run has ended. Immutable. */
export interface TurnPage {
  /** The run's own messages: what was sent, and what it answered. */
  readonly messages: readonly TranscriptMessage[];
  /** The same, as its person may see it. */
  readonly shown: ShownRun;
  readonly endedMs: number;
  /** Keys of the messages that were said to the run while it went on. Absent: none has one. */
  readonly saidKeys?: readonly string[];
}

/** A page, and the content of the files that its messages name: base64, by hash. */
export interface DeliveredPage {
  readonly page: TurnPage;
  readonly files: Readonly<Record<string, string>>;
}

/** A client may continue the turn that it names, or begin a branch at the root. */
export const ROOT = "root";

/**
 * Time after which no run claims its turn. The conversation drops such a turn after twice that
 * time, so two clocks may differ by less than it. Unit: milliseconds.
 */
export const CLAIM_WITHIN_MS = 30_000;

/** Longest summary of earlier turns; a quarter of a window that is small. Unit: bytes of JSON. */
export const MAX_SUMMARY_BYTES = 8_192;

/** Most turns of one conversation, branches included. */
export const MAX_TURNS = 5_000;

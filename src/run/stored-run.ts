import type { RunJournal } from "../capabilities/run-journal.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import type { RunId } from "../protocol/identity/ids.ts";
import type { RunOwner } from "../protocol/identity/viewer.ts";
import type { ToolInvocationRecord } from "../protocol/invocation/record.ts";
import type { JsonValue } from "../protocol/json/value.ts";
import type { RunClaim } from "../protocol/run/claim.ts";
import type { EventPosition } from "../protocol/run/event-id.ts";
import type { AiEvent } from "../protocol/run/event.ts";
import type { ShownCall } from "../protocol/run/direct-call.ts";
import type { StopReason } from "../protocol/run/facts.ts";
import type { TenantNotice } from "../protocol/run/tenant-notice.ts";
import type { RunProgress } from "./progress.ts";

/**
 * What a run stores, as far as anything is decided about it. The object of a run keeps it in
 * SQLite, and src/testing in memory.
 * Contract: synchronous; a read shows the last write of the same turn.
 */
export interface StoredRun {
  readonly store: StoredFacts;
  /** Events for readers. `hasEnded` counts events that are not stored yet. */
  readonly journal: Pick<RunJournal, "append"> & {
    readonly hasEnded: boolean;
    /** Position of the last event. */
    readonly head: EventPosition;
    /** All events so far. */
    events(): Iterable<AiEvent>;
  };
  /** What leaves the run for the object of its tenant (`notify`) and for KV (`put`). */
  readonly outbox: {
    notify(notice: TenantNotice): void;
    put(invocation: number): void;
    /** The object of the tenant does not have every notice yet. */
    hasNotices(): boolean;
  };
  readonly transcript: { all(): readonly TranscriptMessage[] };
  /** The parts of the prompt that are not the conversation. */
  readonly prompt: { read(part: PromptPart): JsonValue | undefined };
  /** Kept files in base64, by hash. */
  readonly files: { has(hash: string): boolean; read(hash: string): string | undefined };
  readonly inbox: StoredSteering;
}

/** What the model gets besides the conversation. */
export type PromptPart =
  /** The template of the assistant's instructions. */
  | "instructions"
  /** What the client sent for the model to read as data. */
  | "request_context"
  /** What the deployment's hook gave. */
  | "hook_context";

/** The claim of a run, how far it came, and the log of what is decided about it. */
export interface StoredFacts {
  identity(): RunIdentity;
  /** The claim without messages and prompt; undefined once the run has shrunk. */
  claimed(): ClaimedRun | undefined;
  /** Names the tool of a run of one direct call, without the arguments. */
  call(): ShownCall | undefined;
  progress(): RunProgress;
  incarnations(): RunIncarnations;
  /** Everything that the run stores. Unit: bytes. */
  storedBytes(): number;
  readonly log: DecisionLog;
}

/** Appends what is decided about a run. */
export interface DecisionLog {
  /** Stores an entry: at once, or with the batch around the call. */
  put(entry: InvocationEntry | RefusalEntry): void;
  /** Stores everything that `work` writes, or nothing of it. */
  batch(work: () => void): void;
}

/** The fields of a record that changed; the first entry of a record has all of them. */
export interface InvocationEntry {
  readonly kind: "invocation";
  readonly number: number;
  readonly changed: ChangedRecord;
}

export type ChangedRecord = Partial<ToolInvocationRecord>;

/** What the log holds of refusals: each one that was counted, and that all were reported. */
export type RefusalEntry =
  | {
      readonly kind: "refused";
      readonly of: string;
      /** Size of its record in full; 0 without one. */
      readonly fullChars: number;
      readonly at: string;
    }
  | { readonly kind: "refusals_reported" };

/** What a run stores of its claim. */
export type ClaimedRun = Omit<
  RunClaim,
  "messages" | "window" | "instructions" | "context" | "files"
>;

/** Facts of a run that never change until the run is deleted. */
export interface RunIdentity {
  readonly runId: RunId;
  readonly model: string;
  /** Hash of the request body; undefined when the request had no idempotency key. */
  readonly requestHash: string | undefined;
  readonly owner: RunOwner;
  readonly claimedMessages: number;
  readonly createdMs: number;
}

/** What a run knows about the incarnations of its object. */
export interface RunIncarnations {
  /** Grows by one with each interruption. */
  readonly epoch: number;
  /** Recoveries since a step was finished. */
  readonly recoveries: number;
  /** Finished steps at the last recovery. */
  readonly recoveredStep: number;
  /** Why the run must stop, in this incarnation or a later one; null when it need not stop. */
  readonly stop: StopReason | null;
  /** The run waits for a person, and no loop is running. */
  readonly isWaiting: boolean;
}

/** A steering message, and the position of its event. */
export interface StoredMessage {
  readonly text: string;
  readonly at: EventPosition;
  /** The client's own id of a message that it holds. */
  readonly messageId?: string;
}

/** The steering messages that wait for the next step of a run. */
export interface StoredSteering {
  readonly hasSteering: boolean;
  readonly isClosed: boolean;
  readonly isFull: boolean;
  put(message: StoredMessage, requestKey: string | undefined): void;
  /** Finds the message under a key; undefined when there is none. */
  findByKey(requestKey: string): StoredMessage | undefined;
  /** The keys of all messages. */
  keys(): readonly string[];
  /** Where the newest message stands that a client holds as one of its own. */
  newestOfClient(): EventPosition | undefined;
}

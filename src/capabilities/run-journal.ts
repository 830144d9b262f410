import type { HookContext } from "../protocol/assistant/context.ts";
import type { AiEvent } from "../protocol/run/event.ts";
import type { AuditEntry } from "../protocol/audit/entry.ts";
import type { RunFacts } from "../protocol/run/facts.ts";
import type { ToolInvocationRecord } from "../protocol/invocation/record.ts";
import type { ToolCallId } from "../protocol/identity/ids.ts";
import type { JsonObject } from "../protocol/json/value.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";

/**
 * Stores what a run does, and sends its events to readers.
 * Contract: synchronous except `secure`; keeps the order of calls. Everything that is given without
 * an `await` in between is stored in one transaction. Deltas and progress reach readers at once and
 * storage soon after. All other events reach readers after they are stored. After `done` the
 * journal ignores everything.
 */
export interface RunJournal {
  /** Appends events to the run's log. */
  append(events: readonly AiEvent[]): void;
  /** Stores what the deployment's hook gave, at once. Contract: once per run. */
  keepContext(context: HookContext): void;
  /** Stores the content of a file in base64, at once. Contract: once per hash. */
  keepFile(hash: string, base64: string): void;
  /** Adds a message to the run's transcript. */
  remember(message: TranscriptMessage): void;
  /** Stores an invocation record. It replaces an earlier record with the same number. */
  record(invocation: ToolInvocationRecord): void;
  /** Replaces some of the run's facts. */
  note(facts: Partial<RunFacts>): void;
  /** Queues an entry for the tenant's audit log, and hashes of what its call named. */
  audit(entry: AuditEntry, usedNames?: readonly string[]): void;
  /** The facts that are already with storage; see `flush`. */
  readonly storedFacts: RunFacts;
  /**
   * Gives everything so far to storage. The platform holds back whatever leaves the object
   * afterwards until storage has it.
   */
  flush(): void;
  /** Resolves once everything so far is durable. For effects that do not leave the object. */
  secure(): Promise<void>;
}

/** Tells whether steering messages wait: messages that a person sends to a run while it goes on. */
export interface PendingSteering {
  readonly hasSteering: boolean;
}

/** A completed write after which the expected state was not found. */
export interface MismatchNote {
  /** Number of the invocation within its run. */
  readonly invocation: number;
  /** What the model reads; redacted. */
  readonly about: JsonObject & { readonly tool: string; readonly call_id: ToolCallId };
}

/** Holds mismatches that the model has to be told of. Contract: synchronous. */
export interface MismatchNotes {
  /** Takes the notes that were not told yet. Contract: each one once in an incarnation. */
  takeAll(): readonly MismatchNote[];
}

/**
 * Holds the steering messages of a run.
 * Contract: synchronous; every message is taken once, in the order of arrival.
 */
export interface SteeringInbox extends PendingSteering {
  takeAll(): readonly string[];
  /** Refuses further messages. Waiting messages can still be taken. */
  close(): void;
}

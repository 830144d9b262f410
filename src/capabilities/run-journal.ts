import type { AiEvent } from "../protocol/run/event.ts";
import type { AuditEntry } from "../protocol/audit/entry.ts";
import type { RunFacts } from "../protocol/run/facts.ts";
import type { ToolInvocationRecord } from "../protocol/invocation/record.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";

/**
 * Takes what a run says and remembers.
 * Contract: synchronous but for `secure`; keeps the order of calls; what is given without an await in
 * between is stored together or not at all. Deltas and progress reach readers at once and storage soon
 * after; everything else reaches them once it is stored. After `done` nothing more is taken.
 */
export interface RunJournal {
  append(events: readonly AiEvent[]): void;
  remember(message: TranscriptMessage): void;
  /** Keeps the newest record of an operation; an earlier one of the same number is replaced. */
  record(invocation: ToolInvocationRecord): void;
  note(facts: Partial<RunFacts>): void;
  /** Has a fact put into the tenant's audit log; stored together with what is recorded in the same moment. */
  audit(entry: AuditEntry): void;
  /** What of the notes is with storage; see `flush`. */
  readonly storedFacts: RunFacts;
  /**
   * Gives everything so far to storage, so that whatever leaves the object from now on leaves after it.
   */
  flush(): void;
  /** Resolves once everything so far is durable: for what acts without leaving the object. */
  secure(): Promise<void>;
}

/**
 * What people say to a run while it goes.
 * Contract: synchronous; every message is taken once, in the order of arrival.
 */
export interface PendingSteering {
  readonly hasSteering: boolean;
  takeAll(): readonly string[];
}

/** The inbox as its owner has it. Contract: once closed it takes nothing more; what waits can be taken. */
export interface SteeringInbox extends PendingSteering {
  close(): void;
}

import { failCall } from "../../protocol/outcome/failures.ts";
import type { RunJournal } from "../../capabilities/run-journal.ts";
import type { BudgetAmounts } from "../../protocol/budget/amounts.ts";
import { MAX_CONTRACT_BYTES } from "../../protocol/identity/ids.ts";
import { isLegalMove, type InvocationState } from "../../protocol/invocation/state.ts";
import { classesOfResults, sourcesOfResults } from "../../protocol/label/of-results.ts";
import { joinSources, madeAfter, type Labels, type Sources } from "../../protocol/label/source.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import type { UndoAttempt } from "../../protocol/invocation/undo.ts";
import type { ToolCall } from "../../protocol/tool/call.ts";
import {
  hasUnknownOutcome,
  type InvocationBinding,
  type InvocationEnd,
  type Operation,
  type ShownBefore,
  type ToolInvocationContext,
  type ToolInvocationRecord,
} from "../../protocol/invocation/record.ts";

/**
 * Names a logical operation: equal in every attempt, and different for every other call of the run.
 */
export function operationIdOf({ step, toolCallId }: Operation): string {
  return `${step}:${toolCallId}`;
}

/** Where a call stands, and what the model had been shown before it. */
type Admission = Pick<ToolInvocationContext, "step" | "part"> & ShownBefore;

/** Every gate refuses longer arguments, so comparing this many characters is enough. */
const MAX_ARGUMENTS_CHARS = MAX_CONTRACT_BYTES + 1;

/** Refuses a call whose operation is bound to another payload. */
export const OTHER_PAYLOAD = failCall("other_payload");

/** Tells whether a call is the one that a record was made for. */
export function isAdmittedFor(record: ToolInvocationRecord, call: ToolCall): boolean {
  return (
    call.name === record.name &&
    call.truncated === record.truncated &&
    call.origin === record.origin &&
    call.saga?.number === record.saga?.number &&
    headOf(call.argumentsText) === record.argumentsText
  );
}

function headOf(argumentsText: string): string {
  return argumentsText.slice(0, MAX_ARGUMENTS_CHARS);
}

/**
 * Keeps one record per logical operation, and enforces its legal moves (seeds/004, "Idempotency
 * State Model"). Every change goes to the journal; the caller waits where a change has to be
 * durable first.
 * Ownership: one per run, over the records of its earlier incarnations.
 * Contract: synchronous; throws on an illegal move and on a change of an ended record: both are
 * bugs.
 */
export class InvocationLedger {
  readonly #journal: Pick<RunJournal, "record">;
  readonly #records = new Map<string, ToolInvocationRecord>();
  /** Operations of each step, in the order asked. */
  readonly #steps = new Map<number, string[]>();
  #isEndedByHook = false;

  constructor(journal: Pick<RunJournal, "record">, stored: readonly ToolInvocationRecord[]) {
    this.#journal = journal;
    for (const record of stored) this.#take(record);
  }

  /** Tells whether a hook ended the run. No call begins any more. */
  get isEndedByHook(): boolean {
    return this.#isEndedByHook;
  }

  get hasCalls(): boolean {
    return this.#records.size > 0;
  }

  find(operation: Operation): ToolInvocationRecord | undefined {
    return this.#records.get(operationIdOf(operation));
  }

  /** Lists the records of a step, in the order asked. */
  ofStep(step: number): readonly ToolInvocationRecord[] {
    const operations = this.#steps.get(step) ?? [];
    return operations.flatMap((operation) => this.#records.get(operation) ?? []);
  }

  /** Labels what a call returned: that of itself, and of its steps if it is a saga. */
  labelsOf({ step, number }: Pick<ToolInvocationRecord, "step" | "number">): Labels {
    const parts = this.ofStep(step).filter(
      (one) => one.number === number || one.saga?.number === number,
    );
    return { sources: sourcesOfResults(parts), dataClasses: classesOfResults(parts) };
  }

  /** Lists the records that have not ended, in the order asked. */
  open(): readonly ToolInvocationRecord[] {
    return [...this.#records.values()].filter(({ end }) => end === undefined);
  }

  /** Lists the records that have ended, in the order asked. */
  ended(): readonly ToolInvocationRecord[] {
    return [...this.#records.values()].filter(({ end }) => end !== undefined);
  }

  /** Opens the record of an operation. Contract: an operation is admitted once. */
  admit(
    call: ToolCall,
    { step, part, after, shownData = [] }: Admission,
    nowMs: number,
  ): ToolInvocationRecord {
    const { toolCallId, name, truncated, origin, saga } = call;
    if (this.find({ step, toolCallId })) throw new Error(`${step}:${toolCallId} is admitted`);
    const argumentsText = headOf(call.argumentsText);
    return this.#keep({
      number: this.#records.size + 1,
      toolCallId,
      step,
      part,
      name,
      argumentsText,
      truncated,
      ...(origin && { origin }),
      ...(saga && { saga }),
      ...madeAfter(after),
      ...(shownData.length > 0 && { shownData }),
      state: "PENDING",
      dispatches: 0,
      askedAtMs: nowMs,
    });
  }

  /**
   * Binds an operation to its payload, or compares the payload with the existing binding.
   * Fails: SIGNATURE_MISMATCH for another payload, and for the same payload under another key.
   */
  bind(operation: Operation, binding: InvocationBinding): Result<null, ToolFailure> {
    const record = this.#open(operation);
    const bound = record.binding;
    // The key covers more than the arguments' hash: it also holds the tool's version and the user.
    if (bound && bound.idempotencyKey !== binding.idempotencyKey) return OTHER_PAYLOAD;
    // The caller knows that no earlier attempt may have reached the target of the earlier binding.
    if (!bound || bound.target !== binding.target) this.#keep({ ...record, binding });
    return ok(null);
  }

  /**
   * Notes where the rows come from that an operation read.
   * Contract: sources are only added. What is read of an operation that has ended, nobody is told.
   */
  noteRows(operation: Operation, sources: Sources): void {
    const record = this.find(operation);
    if (!record || record.end || sources.length === 0) return;
    this.#keep({ ...record, rowSources: joinSources(record.rowSources ?? [], sources) });
  }

  /** Notes what an operation reserved of the run's budgets. */
  charge(operation: Operation, amounts: BudgetAmounts): void {
    this.#keep({ ...this.#open(operation), amounts });
  }

  /** Notes how long an attempt took, until the tool answered or was given up. */
  measure(operation: Operation, ms: number): void {
    const record = this.#open(operation);
    const { attempts = 0, totalMs = 0 } = record.measured ?? {};
    this.#keep({ ...record, measured: { attempts: attempts + 1, totalMs: totalMs + ms } });
  }

  /** Marks that the tool is about to be asked to act. */
  dispatch(operation: Operation, nowMs: number): void {
    const record = this.#open(operation);
    if (!record.binding) throw new Error(`${operationIdOf(operation)} is bound to nothing`);
    const state = record.state === "PENDING" ? record.state : move(record, "PENDING");
    const { dispatches, dispatchedAtMs = nowMs } = record;
    this.#keep({ ...record, state, dispatches: dispatches + 1, dispatchedAtMs });
  }

  /** Plans the next attempt of an operation. Unit: Unix milliseconds. */
  retryAt(operation: Operation, atMs: number): void {
    const record = this.#open(operation);
    this.#keep({ ...record, retry: { atMs, after: record.dispatches } });
  }

  /** Marks that an operation certainly did not happen, so that it may be retried. */
  retract(operation: Operation): void {
    const record = this.#dispatched(operation);
    this.#keep({ ...record, state: move(record, "FAILED_RETRYABLE") });
  }

  /** Marks that an operator has to resolve the outcome of an operation. */
  awaitOutcome(operation: Operation, untilMs: number): void {
    this.#keep({ ...this.#dispatched(operation), awaitedUntilMs: untilMs });
  }

  /** Ends an operation. Contract: only a dispatched operation may have had an effect. */
  end(operation: Operation, state: FinalState, end: InvocationEnd): void {
    const hadEffect = state === "COMPLETED" || state === "EXPIRED";
    const record = hadEffect ? this.#dispatched(operation) : this.#open(operation);
    const next = record.state === state ? state : move(record, state);
    this.#keep({ ...record, state: next, end });
  }

  /** Marks that a completed operation was undone. Contract: a second call changes nothing. */
  compensated(operation: Operation): void {
    const record = this.find(operation);
    if (!record?.end) throw new Error(`${operationIdOf(operation)} has not ended`);
    if (record.state === "COMPENSATED") return;
    this.#keep({ ...record, state: move(record, "COMPENSATED") });
  }

  /**
   * Marks that undoing a completed operation failed, so that an operator looks. Contract: a second
   * call changes nothing.
   */
  undoFailed(operation: Operation, undo: Omit<UndoAttempt, "attempt" | "status">): void {
    const record = this.find(operation);
    if (record?.state !== "COMPLETED" || record.undo) return;
    this.#keep({ ...record, undo: { attempt: 1, ...undo, status: "failed" } });
  }

  #open(operation: Operation): ToolInvocationRecord {
    const record = this.find(operation);
    if (!record) throw new Error(`${operationIdOf(operation)} is not admitted`);
    if (record.end) throw new Error(`${operationIdOf(operation)} has ended`);
    return record;
  }

  /** Finds an open record with an unknown outcome; throws for any other. */
  #dispatched(operation: Operation): ToolInvocationRecord {
    const record = this.#open(operation);
    if (!hasUnknownOutcome(record))
      throw new Error(`${operationIdOf(operation)} is not dispatched`);
    return record;
  }

  #keep(record: ToolInvocationRecord): ToolInvocationRecord {
    this.#take(record);
    this.#journal.record(record);
    return record;
  }

  #take(record: ToolInvocationRecord): void {
    const operation = operationIdOf(record);
    if (!this.#records.has(operation)) {
      const operations = this.#steps.get(record.step) ?? [];
      operations.push(operation);
      this.#steps.set(record.step, operations);
    }
    this.#records.set(operation, record);
    this.#isEndedByHook ||= record.end?.endsRun === true;
  }
}

/** Where an operation can end. */
export type FinalState = Exclude<InvocationState, "PENDING" | "COMPENSATED">;

function move({ state }: ToolInvocationRecord, to: InvocationState): InvocationState {
  if (!isLegalMove(state, to)) throw new Error(`illegal move from ${state} to ${to}`);
  return to;
}

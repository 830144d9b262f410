import type { JsonObject } from "../protocol/json/value.ts";
import type { Resolution, ToolInvocationRecord } from "../protocol/invocation/record.ts";
import { isLegalMove } from "../protocol/invocation/state.ts";
import type { UndoAttempt } from "../protocol/invocation/undo.ts";
import type { VerificationRecord } from "../protocol/outcome/verification.ts";
import { changedFields } from "./changed-fields.ts";
import type { ChangedRecord, DecisionLog } from "./stored-run.ts";
import { undoStandingOf, type UndoStanding } from "./undo/standing.ts";

/**
 * A run's invocation records in its log, raw arguments included, and in memory. Each change of a
 * record appends the fields that changed.
 * Ownership: one per run object; the only writer of invocations.
 */
export class RunInvocations {
  readonly #log: Pick<DecisionLog, "put">;
  readonly #records: Map<number, ToolInvocationRecord>;
  readonly #numbers = new Map<string, number>();
  #onChanged = (): void => {};

  constructor(log: Pick<DecisionLog, "put">, logged: ReadonlyMap<number, ToolInvocationRecord>) {
    this.#log = log;
    this.#records = new Map(logged);
    for (const record of logged.values()) this.#numbers.set(operationOf(record), record.number);
  }

  /**
   * Stores the newest record of an operation. Only `edit` changes the arguments, only `resolve`
   * stores the report of an operator, and only `verify` the verification, because the loop may hold
   * a record without these changes.
   * Fails: throws for a second record of the same logical operation.
   */
  put(record: ToolInvocationRecord): void {
    const known = this.#records.get(record.number);
    if (!known) {
      const operation = operationOf(record);
      if (this.#numbers.has(operation)) throw new Error(`${operation} has a record`);
      this.#numbers.set(operation, record.number);
      return this.#change(record.number, record);
    }
    const { argumentsText, truncated, resolution, verification } = known;
    const told = { ...(resolution && { resolution }), ...(verification && { verification }) };
    const kept = { argumentsText, truncated, ...told };
    this.#change(record.number, changedFields(known, { ...record, ...kept }));
    // Only undoing changes a call that has ended.
    if (known.end ?? record.end?.verification) this.#onChanged();
  }

  all(): readonly ToolInvocationRecord[] {
    return [...this.#records.values()].toSorted((one, other) => one.number - other.number);
  }

  find(number: number): ToolInvocationRecord | undefined {
    return this.#records.get(number);
  }

  /** Operations with an unknown outcome that no operator has resolved. */
  awaitingOperator(): readonly ToolInvocationRecord[] {
    return this.all().filter(awaitsOperator);
  }

  /** Mismatches that the model was not told of, and that no operator has reviewed. */
  untoldMismatches(): readonly ToolInvocationRecord[] {
    return this.all().filter((record) => this.isUntoldMismatch(record));
  }

  /** Tells whether the state after a call differs, and neither the model nor an operator knows. */
  isUntoldMismatch(record: ToolInvocationRecord): boolean {
    const { verification } = record;
    if (verification?.outcome !== "mismatch" || verification.told) return false;
    return verification.reviewedBy === undefined && this.undoStanding(record) !== "undone";
  }

  /** Tells how undoing a completed call stands. */
  undoStanding(record: ToolInvocationRecord): UndoStanding {
    return undoStandingOf(record, this.all());
  }

  /**
   * Gives a call the arguments that the answer of the person completes. Contract: no effect once
   * the call is bound or dispatched, and after another answer.
   */
  answer(number: number, argumentsText: string, answer: JsonObject): void {
    const record = this.#records.get(number);
    if (!record || record.dispatches > 0 || record.binding || record.answer) return;
    this.#change(number, { argumentsText, truncated: false, answer });
  }

  /** Gives a call other arguments. Contract: no effect once the call is bound or dispatched. */
  edit(number: number, argumentsText: string): void {
    const record = this.#records.get(number);
    if (!record || record.dispatches > 0 || record.binding) return;
    const { proposedText = record.argumentsText } = record;
    this.#change(number, { argumentsText, truncated: false, proposedText });
  }

  /** Stores the report that resolves an unknown outcome. Contract: the first report stays. */
  resolve(number: number, resolution: Resolution): void {
    const record = this.#records.get(number);
    if (record && !record.resolution) this.#change(number, { resolution });
  }

  /**
   * Stores how undoing a completed call stands; an undone call is COMPENSATED. Fails: throws on an
   * illegal move.
   */
  changeUndo(number: number, undo: UndoAttempt): void {
    const { state } = this.#records.get(number) ?? { state: "PENDING" };
    const isUndone = undo.status === "undone";
    if (isUndone && !isLegalMove(state, "COMPENSATED"))
      throw new Error(`${state} cannot be undone`);
    this.#change(number, { undo, ...(isUndone && { state: "COMPENSATED" }) });
    this.#onChanged();
  }

  /**
   * Calls the listener in the turn in which a call ends whose state is to be verified, and in which
   * undoing a call begins or ends.
   */
  onVerifiable(listener: () => void): void {
    this.#onChanged = listener;
  }

  /** Completed writes whose state is still to be verified. */
  toVerify(): readonly ToolInvocationRecord[] {
    return this.all().filter(
      ({ end, verification }) => end?.verification && verification?.outcome === undefined,
    );
  }

  /** Stores how far the verification of a call has come. */
  verify(number: number, verification: VerificationRecord): void {
    if (this.#records.has(number)) this.#change(number, { verification });
  }

  /** Stores that the model was told of a mismatch. */
  tell(number: number): void {
    const { verification } = this.#records.get(number) ?? {};
    if (verification) this.verify(number, { ...verification, told: true });
  }

  /** Drops the records from memory, after the log was emptied. */
  forget(): void {
    this.#records.clear();
    this.#numbers.clear();
  }

  #change(number: number, changed: ChangedRecord): void {
    if (Object.keys(changed).length === 0) return;
    this.#log.put({ kind: "invocation", number, changed });
    const record = { ...this.#records.get(number), ...changed };
    this.#records.set(number, record as ToolInvocationRecord);
  }
}

/** Tells whether an operation waits for an operator to resolve its outcome. */
export function awaitsOperator({ awaitedUntilMs, resolution, end }: ToolInvocationRecord): boolean {
  return awaitedUntilMs !== undefined && !resolution && !end;
}

function operationOf({ step, toolCallId }: ToolInvocationRecord): string {
  return `${step}:${toolCallId}`;
}

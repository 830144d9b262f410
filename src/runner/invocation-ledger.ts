import type { RunJournal } from "../capabilities/run-journal.ts";
import type { BudgetAmounts } from "../protocol/budget/amounts.ts";
import { MAX_CONTRACT_BYTES } from "../protocol/identity/ids.ts";
import { isLegalMove, type InvocationState } from "../protocol/invocation/state.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import { ok, type Result } from "../protocol/outcome/result.ts";
import type { ToolCall } from "../protocol/tool/call.ts";
import {
  hasUnknownOutcome,
  type InvocationBinding,
  type InvocationEnd,
  type ToolInvocationContext,
  type ToolInvocationRecord,
} from "../protocol/invocation/record.ts";
import { failCall } from "./tool-failure.ts";

/** Names a logical operation within its run. */
export type Operation = Pick<ToolInvocationContext, "step" | "toolCallId">;

/** Names a logical operation: the same in every attempt, and in no other call of the run. */
export function operationIdOf({ step, toolCallId }: Operation): string {
  return `${step}:${toolCallId}`;
}

/** No gate lets longer arguments through, so a longer head of them tells as much. */
const MAX_ARGUMENTS_CHARS = MAX_CONTRACT_BYTES + 1;

/** Refuses an operation that is bound to something else. */
export const OTHER_PAYLOAD = failCall("SIGNATURE_MISMATCH", {
  code: "other_payload",
  message: "the same operation was asked for before with other arguments",
});

/** Tells whether a call asks for what a record was reserved for. */
export function asksForThe(record: ToolInvocationRecord, call: ToolCall): boolean {
  return (
    call.name === record.name &&
    call.truncated === record.truncated &&
    headOf(call.argumentsText) === record.argumentsText
  );
}

function headOf(argumentsText: string): string {
  return argumentsText.slice(0, MAX_ARGUMENTS_CHARS);
}

/**
 * One record per logical operation, and the moves it may make (seeds/004, "Idempotency State
 * Model"). Every change goes to the journal; what has to be durable before something happens is the
 * caller's to wait for.
 * Ownership: one per run, over the records of its earlier lives.
 * Contract: synchronous; throws on an illegal move, and on any change of what has ended: both are
 * bugs.
 */
export class InvocationLedger {
  readonly #journal: Pick<RunJournal, "record">;
  readonly #records = new Map<string, ToolInvocationRecord>();
  /** Operations of each step, in the order asked. */
  readonly #steps = new Map<number, string[]>();

  constructor(journal: Pick<RunJournal, "record">, stored: readonly ToolInvocationRecord[]) {
    this.#journal = journal;
    for (const record of stored) this.#take(record);
  }

  find(operation: Operation): ToolInvocationRecord | undefined {
    return this.#records.get(operationIdOf(operation));
  }

  /** Those of a step, in the order asked. */
  ofStep(step: number): readonly ToolInvocationRecord[] {
    const operations = this.#steps.get(step) ?? [];
    return operations.flatMap((operation) => this.#records.get(operation) ?? []);
  }

  /** Those that have not ended, in the order asked. */
  open(): readonly ToolInvocationRecord[] {
    return [...this.#records.values()].filter(({ end }) => end === undefined);
  }

  /** Those that have ended, in the order asked. */
  ended(): readonly ToolInvocationRecord[] {
    return [...this.#records.values()].filter(({ end }) => end !== undefined);
  }

  /** Reserves an operation. Contract: an operation is reserved once. */
  reserve(
    call: ToolCall,
    { step, part }: Pick<ToolInvocationContext, "step" | "part">,
    nowMs: number,
  ): ToolInvocationRecord {
    const { toolCallId, name, truncated } = call;
    if (this.find({ step, toolCallId })) throw new Error(`${step}:${toolCallId} is reserved`);
    const argumentsText = headOf(call.argumentsText);
    return this.#keep({
      number: this.#records.size + 1,
      toolCallId,
      step,
      part,
      name,
      argumentsText,
      truncated,
      state: "PENDING",
      dispatches: 0,
      askedAtMs: nowMs,
    });
  }

  /**
   * Binds an operation to its payload, or compares it with what it is bound to.
   * Fails: SIGNATURE_MISMATCH for another payload, or the same one under another key.
   */
  bind(operation: Operation, binding: InvocationBinding): Result<null, ToolFailure> {
    const record = this.#open(operation);
    const bound = record.binding;
    // The key tells more than the hash of the arguments: the tool's version and the user are in it.
    if (bound && bound.idempotencyKey !== binding.idempotencyKey) return OTHER_PAYLOAD;
    if (!bound) this.#keep({ ...record, binding });
    return ok(null);
  }

  /** Notes what an operation took of the run's budgets. */
  charge(operation: Operation, amounts: BudgetAmounts): void {
    this.#keep({ ...this.#open(operation), amounts });
  }

  /** Marks that the tool is about to be asked to act. */
  dispatch(operation: Operation): void {
    const record = this.#open(operation);
    if (!record.binding) throw new Error(`${operationIdOf(operation)} is bound to nothing`);
    const state = record.state === "PENDING" ? record.state : move(record, "PENDING");
    this.#keep({ ...record, state, dispatches: record.dispatches + 1 });
  }

  /** Marks that an operation is known not to have happened, so that it may be tried again. */
  retract(operation: Operation): void {
    const record = this.#dispatched(operation);
    this.#keep({ ...record, state: move(record, "FAILED_RETRYABLE") });
  }

  /** Leaves it to an operator to find out what became of an operation. */
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

  #open(operation: Operation): ToolInvocationRecord {
    const record = this.find(operation);
    if (!record) throw new Error(`${operationIdOf(operation)} is not reserved`);
    if (record.end) throw new Error(`${operationIdOf(operation)} has ended`);
    return record;
  }

  /** What was dispatched, and of which nothing is known since. */
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
  }
}

/** Where an operation can end. */
export type FinalState = Exclude<InvocationState, "PENDING" | "COMPENSATED">;

function move({ state }: ToolInvocationRecord, to: InvocationState): InvocationState {
  if (!isLegalMove(state, to)) throw new Error(`illegal move from ${state} to ${to}`);
  return to;
}

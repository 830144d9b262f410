import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { AiEvent } from "../../protocol/run/event.ts";
import type { StopReason } from "../../protocol/run/facts.ts";
import { codeOf, type RunEvidence } from "./evidence.ts";

/**
 * Stops the replay of a run that was stopped: by a cancellation, or by a limit of time, storage or
 * interruptions. No record holds the moment. It follows from what the last step still did: the
 * replay is stopped once it has done the same.
 * Ownership: one replay. Contract: never stops the replay of a run that came to its own end.
 */
export class RecordedStop {
  readonly #controller = new AbortController();
  readonly #reason: StopReason | undefined;
  readonly #step: number;
  /** What the replay of the last step has not done yet. */
  readonly #left: Set<string>;
  #hasBegun = false;

  constructor({ facts, invocations, log }: RunEvidence) {
    const { because } = facts;
    this.#reason = because && "stopped" in because ? because.stopped : undefined;
    this.#step = log.findLast((event) => event.type === "step_started")?.step ?? 0;
    const finished = log.findLast((event) => event.type === "step_finished");
    const calls = invocations.filter(({ step }) => step === this.#step);
    const isOver = finished?.step === this.#step && finished.continued;
    this.#left = new Set(
      calls.length === 0 || isOver ? [FINISHED] : calls.flatMap((call) => lastDeedOf(call, calls)),
    );
    if (this.#step === 0) this.now();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The run was stopped, and the replay is not stopped yet. */
  get isToCome(): boolean {
    return this.#reason !== undefined && !this.signal.aborted;
  }

  /** Stops the replay now. Contract: no effect where the run was not stopped. */
  now(): void {
    if (this.#reason !== undefined) this.#controller.abort(this.#reason);
  }

  /** Tells whether the stop ended a call. */
  hasEnded(record: ToolInvocationRecord | undefined): boolean {
    return this.#reason !== undefined && record !== undefined && isCutShort(record);
  }

  /** Follows the events of the replay. */
  follow(events: readonly AiEvent[]): void {
    for (const event of events) {
      if (event.type === "step_started" && event.step === this.#step) this.#hasBegun = true;
      if (this.#hasBegun) this.#left.delete(deedOf(event));
    }
    this.#stopIfDone();
  }

  /** Notes that a tool would act now. */
  noteDispatch({ toolCallId }: ToolInvocationRecord): void {
    this.#left.delete(`acts ${toolCallId}`);
    this.#stopIfDone();
  }

  #stopIfDone(): void {
    if (this.#hasBegun && this.#left.size === 0) this.now();
  }
}

const FINISHED = "finished";

/** Names what an event says that the step has done. */
function deedOf(event: AiEvent): string {
  const { type } = event;
  if (type === "step_finished") return FINISHED;
  if (type === "tool_call_proposed") return `is proposed ${event.toolCallId}`;
  if (type === "tool_call_start") return `starts ${event.toolCallId}`;
  return type === "tool_call_result" ? `ends ${event.toolCallId}` : "";
}

/** Names the last thing that a call did before the stop; nothing for a call that never began. */
function lastDeedOf(
  record: ToolInvocationRecord,
  calls: readonly ToolInvocationRecord[],
): readonly string[] {
  const { number, toolCallId, dispatches, awaitedUntilMs, binding, state, saga } = record;
  const isSaga = calls.some((step) => step.saga?.number === number);
  // A saga that is stopped undoes its steps after the stop.
  if (saga?.compensates) return [];
  if (isSaga && state !== "COMPLETED") return [`starts ${toolCallId}`];
  if (!isCutShort(record)) return [`ends ${toolCallId}`];
  if (dispatches === 0) return [`is proposed ${toolCallId}`];
  // The run was stopped while it waited, so the replay has to wait first.
  if (awaitedUntilMs !== undefined) return ["waits"];
  // Cancelled between its record and its dispatch: a write that acted has an unknown outcome.
  const hasStarted = binding?.mutates === true && state !== "EXPIRED";
  return [hasStarted ? `starts ${toolCallId}` : `acts ${toolCallId}`];
}

function isCutShort(record: ToolInvocationRecord): boolean {
  if (record.resolution) return false;
  return codeOf(record) === "cancelled" || record.state === "EXPIRED";
}

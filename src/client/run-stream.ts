import type { AiEvent } from "../../.interlock/api.ts";
import type { Result } from "../protocol/outcome/result.ts";
import { formatEventId } from "../protocol/run/event-id.ts";
import { readEventLines } from "./read-event-lines.ts";
import { UNREACHABLE, type Failure } from "./failure.ts";
import { followStream } from "./follow-stream.ts";
import { openStream, type Asked, type Followed, type OpenStream } from "./open-stream.ts";
import type { CallPorts } from "./ports.ts";

/** One event of a run, in words of Interlock and of no provider; or why no more events come. */
export type RunEvent = AiEvent | { readonly type: "broken"; readonly failure: Failure };

/** How a run is followed. */
export interface FollowOptions {
  readonly signal?: AbortSignal | undefined;
  /** When the stream looks again after a run that waits for people; 5 seconds unless said. */
  readonly returnAfterMs?: number | undefined;
}

const RETURN_AFTER_MS = 5_000;
/** The wire of neutral events. */
const FORMAT = { wire: "event-lines", mediaType: "application/x-ndjson" };

/**
 * The events of one run, each once and in their order, across lost connections. Iterate it once.
 * Contract: never throws. The last event is `done`, or `broken`; after an abort there is none. A
 * run goes on when nobody follows it.
 */
export class RunStream implements AsyncIterable<RunEvent> {
  readonly #ports: CallPorts;
  readonly #begin: Asked | Followed;
  readonly #options: FollowOptions;
  #runId: string | undefined;
  #conversationId: string | undefined;
  #lastEventId: string | undefined;

  constructor(ports: CallPorts, begin: Asked | Followed, options: FollowOptions) {
    this.#ports = ports;
    this.#begin = begin;
    this.#options = options;
    if ("runId" in begin) [this.#runId, this.#lastEventId] = [begin.runId, begin.after];
  }

  /** Id of the run; undefined until the server has answered. */
  get runId(): string | undefined {
    return this.#runId;
  }

  /** Id of the conversation; likewise. */
  get conversationId(): string | undefined {
    return this.#conversationId;
  }

  /** Where another stream goes on with the same run; undefined before the first event. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent, void, undefined> {
    const { signal = new AbortController().signal } = this.#options;
    const { returnAfterMs = RETURN_AFTER_MS } = this.#options;
    const task = {
      open: (connection: AbortSignal) => this.#open(connection),
      read: readEventLines,
      pause: () => this.#ports.wait(returnAfterMs, signal),
      signal,
    };
    for await (const step of followStream(task, this.#ports)) {
      if (step.kind === "broken") yield { type: "broken", failure: step.failure ?? UNREACHABLE };
      if (step.kind !== "events") return;
      for (const { event, position } of step.events) {
        this.#lastEventId = formatEventId(position);
        yield event;
      }
    }
  }

  /** Opens the stream after the last event. */
  async #open(signal: AbortSignal): Promise<Result<OpenStream, Failure>> {
    const [runId, after] = [this.#runId, this.#lastEventId];
    const begin = runId === undefined ? this.#begin : { runId, after };
    const opened = await openStream(this.#ports, FORMAT, { begin, signal });
    if (!opened.ok) return opened;
    const { body, conversationId } = opened.value;
    this.#runId = opened.value.runId ?? runId;
    this.#conversationId = conversationId ?? this.#conversationId;
    const isInProgress = !body && this.#runId !== runId;
    return isInProgress ? this.#open(signal) : opened;
  }
}

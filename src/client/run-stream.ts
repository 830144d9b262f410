import type { AiEvent, Operations } from "../../.interlock/api.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import { formatEventId } from "../protocol/run/event-id.ts";
import { EventLineReader } from "../wire/openai-inbound/event-line-reader.ts";
import { pause, sendOnce, type AnyRequest, type CallPorts } from "./call.ts";
import { UNREACHABLE, type Failure } from "./failure.ts";
import { watchSilence } from "./silence-watch.ts";

/** One event of a run, in words of Interlock and of no provider; or why no more events come. */
export type RunEvent = AiEvent | { readonly type: "broken"; readonly failure: Failure };

/** Where a run is followed from. */
export interface Followed {
  readonly runId: string;
  /** `lastEventId` of an earlier stream. Absent: from the first event. */
  readonly after?: string | undefined;
}

/** How a run is followed. */
export interface FollowOptions {
  readonly signal?: AbortSignal | undefined;
  /** When the stream looks again after a run that waits for people; 5 seconds unless said. */
  readonly returnAfterMs?: number | undefined;
}

type ChatBody = Operations["POST /v1/chat"]["request"]["body"];

/** What a stream begins with: a question under a key, or a run. */
export type Begin = { readonly body: ChatBody; readonly key: string } | Followed;

/** Lost connections in a row after which a stream gives up. */
const MAX_LOSSES = 6;
const RETURN_AFTER_MS = 5_000;
/** The wire of neutral events. */
const WIRE = { wire: "event-lines" };

/**
 * The events of one run, each once and in their order, across lost connections. Iterate it once.
 * Contract: never throws. The last event is `done`, or `broken`; after an abort there is none. A
 * run goes on when nobody follows it.
 */
export class RunStream implements AsyncIterable<RunEvent> {
  readonly #ports: CallPorts;
  readonly #begin: Begin;
  readonly #options: FollowOptions;
  #runId: string | undefined;
  #conversationId: string | undefined;
  #lastEventId: string | undefined;

  constructor(ports: CallPorts, begin: Begin, options: FollowOptions) {
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
    for (let losses = 0; !signal.aborted;) {
      const before = this.#lastEventId;
      const end = yield* this.#readOnce(signal);
      if (end.kind === "done" || signal.aborted) return;
      if (end.kind === "waits") {
        losses = 0;
        await this.#ports.wait(returnAfterMs, signal);
        continue;
      }
      losses = this.#lastEventId === before ? losses + 1 : 1;
      const { failure } = end;
      if (!failure.isTransient || losses > MAX_LOSSES) return yield { type: "broken", failure };
      await pause(this.#ports, { attempt: losses, failure, signal });
    }
  }

  /** Reads one connection to its end. */
  async *#readOnce(outer: AbortSignal): AsyncGenerator<RunEvent, End, undefined> {
    const { signal, touch, stop } = watchSilence(outer, this.#ports.wait);
    const opened = await this.#open(signal);
    if (!opened.ok || !opened.value) {
      stop();
      return opened.ok ? { kind: "done" } : { kind: "lost", failure: opened.failure };
    }
    const lines = new EventLineReader(opened.value);
    try {
      for (let batch = await lines.next(); batch; batch = await lines.next()) {
        touch();
        for (const { event, position } of batch.lines) {
          this.#lastEventId = formatEventId(position);
          yield event;
        }
        if (batch.waits) return { kind: "waits" };
      }
      return { kind: "done" };
    } catch {
      return { kind: "lost", failure: UNREACHABLE };
    } finally {
      stop();
      lines.cancel();
    }
  }

  /** Opens the stream after the last event; no body where the run has no more events. */
  async #open(
    signal: AbortSignal,
  ): Promise<Result<ReadableStream<Uint8Array> | undefined, Failure>> {
    const opened = await sendOnce(this.#ports, ...this.#toRequest(signal));
    if (!opened.ok) {
      const { code, runId } = opened.failure;
      // An earlier request under the key has started the run.
      if (code !== "request_in_progress" || runId === undefined) return opened;
      this.#runId = runId;
      return this.#open(signal);
    }
    const { status, headers, body } = opened.value;
    if (status === 204) return ok(undefined);
    if (!body || !headers.get("content-type")?.startsWith("application/x-ndjson")) {
      void body?.cancel();
      return fail(NO_STREAM);
    }
    this.#runId = headers.get("x-run-id") ?? this.#runId;
    this.#conversationId = headers.get("x-conversation-id") ?? this.#conversationId;
    return ok(body);
  }

  #toRequest(signal: AbortSignal): readonly [name: string, request: AnyRequest] {
    if (this.#runId === undefined && "key" in this.#begin) {
      return ["POST /v1/chat", { ...this.#begin, query: WIRE, signal }];
    }
    const headers = { "last-event-id": this.#lastEventId };
    const path = { id: this.#runId ?? "" };
    return ["GET /v1/runs/{id}/events", { path, query: WIRE, headers, signal }];
  }
}

/** How one connection ended. */
type End =
  | { readonly kind: "done" }
  | { readonly kind: "waits" }
  | { readonly kind: "lost"; readonly failure: Failure };

const NO_STREAM: Failure = {
  code: "unreadable",
  message: "The server sent no stream of events. Check the address.",
  isTransient: false,
};

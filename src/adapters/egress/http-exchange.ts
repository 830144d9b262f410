import type { Clock } from "../../capabilities/system.ts";
import type { ModelFailure } from "../../protocol/model/event.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";

/** Performs one HTTP request. Contract: rejects when there is no response. */
export type Fetch = (request: Request) => Promise<Response>;

export interface HttpExchangeOptions {
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** Longest wait for the response, and for each read of its body. */
  readonly idleTimeoutMs: number;
  /** Ends the exchange at once. */
  readonly signal: AbortSignal;
}

/** How long, and for how many bytes, `finish` waits for the rest of a complete answer. */
const DRAIN_MS = 1_000;
const DRAIN_BYTES = 64 * 1024;
/** The timer of a call looks this often at least, so that one timer serves every wait. */
const LOOK_MS = DRAIN_MS;

type Interruption = "aborted" | "upstream_stalled";

/**
 * Performs one request to a provider and reads its body.
 * Contract: never throws. After an abort or a stall every call fails with that reason. `close`
 * releases the connection in any state and is idempotent.
 * Fails: upstream_unreachable, upstream_truncated, upstream_stalled, aborted.
 */
export class HttpExchange {
  readonly #options: HttpExchangeOptions;
  readonly #connection = new AbortController();
  readonly #onAbort = (): void => this.#interrupt("aborted");
  #interruption: Interruption | undefined;
  #wakeOpen: () => void = () => undefined;
  #stopTimer: (() => void) | undefined;
  /** Start of the current wait for the upstream; undefined while the consumer works. */
  #waitingSinceMs: number | undefined;
  /** When a complete answer is closed, even if its connection stays open. */
  #drainedByMs: number | undefined;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #closed = false;
  #hasEnded = false;

  constructor(options: HttpExchangeOptions) {
    this.#options = options;
    options.signal.addEventListener("abort", this.#onAbort, { once: true });
    if (options.signal.aborted) this.#onAbort();
  }

  /** Sends the request. Contract: the detail of a failure never holds the request's headers. */
  async open(url: string, init: RequestInit): Promise<Result<Response, ModelFailure>> {
    const request = buildRequest(url, { ...init, signal: this.#connection.signal });
    if (!request) return fail({ code: "upstream_unreachable", detail: "no usable request" });
    if (this.#interruption) return this.#interrupted(this.#interruption);
    const interrupted = new Promise<undefined>((resolve) => {
      this.#wakeOpen = () => resolve(undefined);
    });
    this.#expectUpstream();
    try {
      const response = await Promise.race([this.#send(request), interrupted]);
      if (!response) return this.#interrupted(this.#interruption ?? "aborted");
      this.#reader = response.body?.getReader();
      return ok(response);
    } catch (error) {
      if (this.#interruption) return this.#interrupted(this.#interruption);
      return fail({ code: "upstream_unreachable", detail: describe(error) });
    } finally {
      this.#waitingSinceMs = undefined;
    }
  }

  /** Reads the next piece of the body; undefined at its end. */
  async read(): Promise<Result<Uint8Array | undefined, ModelFailure>> {
    this.#expectUpstream();
    try {
      const result = await this.#reader?.read();
      if (this.#interruption) return this.#interrupted(this.#interruption);
      this.#hasEnded = result?.value === undefined;
      return ok(result?.value);
    } catch (error) {
      if (this.#interruption) return this.#interrupted(this.#interruption);
      return fail({ code: "upstream_truncated", detail: describe(error) });
    } finally {
      this.#waitingSinceMs = undefined;
    }
  }

  /**
   * Reads the rest of a complete answer in the background: a connection with an unread body cannot
   * carry the next request. Closes a connection that does not end soon.
   */
  finish(): void {
    const { clock, idleTimeoutMs } = this.#options;
    this.#drainedByMs = clock.nowMs() + Math.min(DRAIN_MS, idleTimeoutMs);
    void this.#drain().finally(() => this.close());
  }

  async #drain(): Promise<void> {
    for (let bytes = 0; bytes < DRAIN_BYTES && !this.#closed;) {
      const read = await this.read();
      if (!read.ok || !read.value) return;
      bytes += read.value.byteLength;
    }
  }

  /** Releases the connection. */
  close(): void {
    this.#closed = true;
    this.#stopTimer?.();
    this.#options.signal.removeEventListener("abort", this.#onAbort);
    if (!this.#hasEnded) this.#release();
  }

  async #send(request: Request): Promise<Response> {
    const response = await this.#options.fetch(request);
    // A fetch that ignores its signal may answer after the exchange has ended.
    if (this.#interruption || this.#closed) await response.body?.cancel();
    return response;
  }

  /** Starts a wait. A timer per read would cost more than the read. */
  #expectUpstream(): void {
    this.#waitingSinceMs = this.#options.clock.nowMs();
    if (this.#stopTimer === undefined) this.#look();
  }

  /** Ends the exchange if a wait took too long; otherwise looks again later. */
  #look(): void {
    const { clock, idleTimeoutMs } = this.#options;
    const nowMs = clock.nowMs();
    const endsAtMs = this.#drainedByMs ?? (this.#waitingSinceMs ?? nowMs) + idleTimeoutMs;
    const leftMs = endsAtMs - nowMs;
    if (leftMs > 0) {
      this.#stopTimer = clock.schedule(Math.min(leftMs, LOOK_MS), () => this.#look());
    } else if (this.#drainedByMs === undefined) this.#interrupt("upstream_stalled");
    else this.close();
  }

  #interrupt(reason: Interruption): void {
    if (this.#interruption || this.#closed) return;
    this.#interruption = reason;
    this.#wakeOpen();
    this.#release();
  }

  /** Cancels the reader too: this ends a pending read of a body that ignores the signal. */
  #release(): void {
    this.#reader?.cancel().catch(() => undefined);
    this.#connection.abort();
  }

  #interrupted(reason: Interruption): Result<never, ModelFailure> {
    const detail = reason === "aborted" ? "the caller aborted" : "no byte within the idle timeout";
    return fail({ code: reason, detail });
  }
}

/**
 * Builds the request; undefined when it is not valid. The platform's error is dropped, because its
 * text repeats headers and address.
 */
function buildRequest(url: string, init: RequestInit): Request | undefined {
  try {
    return new Request(url, init);
  } catch {
    return undefined;
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return "connection failed";
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return `${error.name}: ${error.message}${cause}`;
}

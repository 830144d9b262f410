import type { Clock } from "../../capabilities/system.ts";
import { MAX_ANSWER_MS, type CollectorAnswer } from "./otlp-collector.ts";

/** Runs that end within this time share a request: a request costs as much as a fifth of a run. */
const SHARE_MS = 250;
/** Time after the request for the answer. All runs of a batch look for it in the same moment. */
const ANSWER_AFTER_MS = 100;
/** Size of a shared request; one run may be larger. Unit: UTF-16 code units. */
const MAX_CHARS = 256 * 1024;

/** Spans of some runs, and what became of them. */
interface Batch {
  readonly spans: string[];
  chars: number;
  /** Later ones begin another batch, also where the object died that was to send this one. */
  readonly closesAtMs: number;
  answer?: CollectorAnswer;
}

interface BatchPorts {
  readonly clock: Clock;
  /** Sends the spans of all runs in one request. */
  readonly post: (spans: readonly string[]) => Promise<CollectorAnswer>;
}

/**
 * Puts the spans of runs that end in the same isolate at the same time into one request. The first
 * run of a batch sends it; the others look for its answer, because no object may wait for a promise
 * of another one.
 * Ownership: one per isolate. Contract: never throws; answers within 6 seconds.
 */
export class SpanBatches {
  #open: Batch | undefined;

  async send(spans: string, { clock, post }: BatchPorts): Promise<CollectorAnswer> {
    const nowMs = clock.nowMs();
    const open = this.#open;
    if (open && nowMs < open.closesAtMs && open.chars + spans.length <= MAX_CHARS) {
      open.spans.push(spans);
      open.chars += spans.length;
      return follow(open, clock);
    }
    const closesAtMs = nowMs + SHARE_MS;
    const batch: Batch = { spans: [spans], chars: spans.length, closesAtMs };
    this.#open = batch;
    await pauseUntil(closesAtMs, clock);
    if (this.#open === batch) this.#open = undefined;
    const answer = await post(batch.spans);
    // Each run of a refused batch is sent alone later, so that no run drops the spans of another.
    batch.answer = answer === "refused" && batch.spans.length > 1 ? "away" : answer;
    return batch.answer;
  }
}

async function follow(batch: Batch, clock: Clock): Promise<CollectorAnswer> {
  const untilMs = batch.closesAtMs + MAX_ANSWER_MS;
  let lookAtMs = batch.closesAtMs + ANSWER_AFTER_MS;
  do {
    await pauseUntil(lookAtMs, clock);
    lookAtMs += SHARE_MS;
  } while (!batch.answer && clock.nowMs() < untilMs);
  return batch.answer ?? "away";
}

function pauseUntil(atMs: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => void clock.schedule(atMs - clock.nowMs(), resolve));
}

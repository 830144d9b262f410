import type { Result } from "../protocol/outcome/result.ts";
import type { ReadStream, StreamEnd } from "../protocol/run/stream-batch.ts";
import { pause } from "./call.ts";
import type { Failure } from "./failure.ts";
import type { CallPorts } from "./ports.ts";
import { watchSilence } from "./silence-watch.ts";

interface Opened {
  readonly body?: ReadableStream<Uint8Array> | null;
}

/** A stream to follow to its end. `Failed` says why a stream could not be opened. */
export interface FollowTask<Item, Failed> {
  /**
   * Opens the stream, at first and after each lost connection. Without a body the run has no more
   * events. Contract: safe to repeat.
   */
  readonly open: (signal: AbortSignal) => Promise<Result<Opened, Failed>>;
  readonly read: ReadStream<Item>;
  /** Waits before the return to a run that waits for people. */
  readonly pause: (returnAfterMs: number | undefined) => Promise<void>;
  readonly onLink?: ((link: "open" | "reconnecting") => void) | undefined;
  readonly signal: AbortSignal;
}

/** Events that arrived together, and at last how following ended. */
export type FollowStep<Item, Failed> =
  | { readonly kind: "events"; readonly events: readonly Item[] }
  | FollowEnd<Failed>;

/** How following ended. `broken` without a failure: connections were lost. */
export type FollowEnd<Failed> =
  | { readonly kind: "done" }
  | { readonly kind: "aborted" }
  | { readonly kind: "malformed" }
  | { readonly kind: "too_large" }
  | { readonly kind: "broken"; readonly failure: Failed | undefined };

/** Lost connections in a row after which a reader gives up. */
export const MAX_LOSSES = 6;

/**
 * Follows a stream until its last event, and reconnects after a lost connection. The number of
 * reconnections in a row is bounded; each waits longer. An event that arrives resets the count.
 * While a run waits for people no connection stays open.
 * Contract: never throws. The last step is an end.
 */
export async function* followStream<
  Item,
  Failed extends Pick<Failure, "isTransient" | "retryAfterSeconds">,
>(
  task: FollowTask<Item, Failed>,
  ports: Pick<CallPorts, "wait" | "random">,
): AsyncGenerator<FollowStep<Item, Failed>, void, undefined> {
  const { signal } = task;
  for (let losses = 0; !signal.aborted;) {
    let end: ConnectionEnd<Failed> = LOST;
    for await (const step of readConnection(task, ports)) {
      if (signal.aborted) break;
      if (step.kind !== "events") end = step;
      else {
        losses = 0;
        yield step;
      }
    }
    if (signal.aborted) break;
    if (end.kind === "waiting") {
      losses = 0;
      await task.pause(end.returnAfterMs);
    } else if (end.kind === "lost") {
      losses += 1;
      const { failure } = end;
      const isOver = failure?.isTransient === false || losses > MAX_LOSSES;
      if (isOver) return yield { kind: "broken", failure };
      task.onLink?.("reconnecting");
      await pause(ports, { attempt: losses, failure, signal });
    } else return yield end;
  }
  yield { kind: "aborted" };
}

/** How one connection ended. */
type ConnectionEnd<Failed> =
  | { readonly kind: "lost"; readonly failure?: Failed | undefined }
  | Exclude<StreamEnd, { readonly kind: "cut" }>;

const LOST = { kind: "lost" } as const;

/** Reads one connection to its end, which is the last step. */
async function* readConnection<Item, Failed>(
  { open, read, onLink, signal: outer }: FollowTask<Item, Failed>,
  { wait }: Pick<CallPorts, "wait">,
): AsyncGenerator<Extract<FollowStep<Item, Failed>, { kind: "events" }> | ConnectionEnd<Failed>> {
  const { signal, touch, stop } = watchSilence(outer, wait);
  try {
    const opened = await open(signal);
    if (!opened.ok) return yield { kind: "lost", failure: opened.failure };
    if (!opened.value.body) return yield { kind: "done" };
    onLink?.("open");
    for await (const { items, end } of read(opened.value.body)) {
      touch();
      if (items.length > 0) yield { kind: "events", events: items };
      if (end) yield end.kind === "cut" ? LOST : end;
    }
  } finally {
    stop();
  }
}

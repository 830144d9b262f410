import type { Result } from "../../protocol/outcome/result.ts";
import {
  readChunks,
  type StreamedEvent,
  type StreamEnd,
} from "../../wire/assistant-transport/read-chunks.ts";
import type { ApiFailure, OpenStream } from "./api.ts";

/** A run to be followed to its end. */
export interface FollowTask {
  /** Opens the stream: the first time, and again after each loss. Contract: doing it again is safe. */
  readonly open: (signal: AbortSignal) => Promise<Result<OpenStream, ApiFailure>>;
  /** True once the run's last event was applied. */
  readonly isDone: () => boolean;
  readonly onEvents: (events: readonly StreamedEvent[]) => void;
  readonly onLink: (link: "open" | "reconnecting") => void;
  readonly signal: AbortSignal;
}

/** How following ended. `message` is for the reader. */
export type FollowEnd =
  | { readonly kind: "done" | "aborted" | "token_needed" }
  | { readonly kind: "broken"; readonly message: string };

/** What following needs of its surroundings. */
export interface FollowPorts {
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** A number from 0 to 1. */
  readonly random: () => number;
}

/** A connection without a byte for that long is dead: the server sends keep-alives far more often. */
export const SILENCE_MS = 60_000;
export const MAX_RECONNECTIONS = 6;
const FIRST_DELAY_MS = 400;

/**
 * Follows a run until its last event, across lost connections: a bounded number of times in a row,
 * each after a longer delay. An event that arrived starts the count anew.
 * Contract: never throws.
 */
export async function followRun(task: FollowTask, ports: FollowPorts): Promise<FollowEnd> {
  let losses = 0;
  for (;;) {
    const attempt = await followOnce(task, ports);
    if (task.signal.aborted) return { kind: "aborted" };
    if (attempt.end.kind !== "lost" && attempt.end.kind !== "waiting") return attempt.end;
    // The run waits for people: whoever comes back after what was seen is told how it goes on.
    if (attempt.end.kind === "waiting" && attempt.hadEvents) {
      losses = 0;
      continue;
    }
    losses = attempt.hadEvents ? 1 : losses + 1;
    if (losses > MAX_RECONNECTIONS) {
      return { kind: "broken", message: "The connection was lost and could not be restored." };
    }
    task.onLink("reconnecting");
    await ports.wait(delayMs(losses, ports.random()), task.signal);
    if (task.signal.aborted) return { kind: "aborted" };
  }
}

/** Grows from 0.4 s to 12.8 s; spread, so that clients do not come back all at once. */
function delayMs(losses: number, random: number): number {
  return FIRST_DELAY_MS * 2 ** (losses - 1) * (0.75 + random / 4);
}

type Attempt =
  | FollowEnd
  | { readonly kind: "lost"; readonly message: string }
  | { readonly kind: "waiting" };

async function followOnce(
  task: FollowTask,
  ports: FollowPorts,
): Promise<{ readonly end: Attempt; readonly hadEvents: boolean }> {
  let hadEvents = false;
  const watch = watchSilence(task.signal, ports);
  try {
    const opened = await task.open(watch.signal);
    if (!opened.ok) return { end: judgeFailure(opened.failure), hadEvents };
    if (!opened.value.body) return { end: task.isDone() ? { kind: "done" } : LOST, hadEvents };
    task.onLink("open");
    const end = await readChunks(opened.value.body, (events) => {
      watch.touch();
      if (events.length === 0 || watch.signal.aborted) return;
      hadEvents = true;
      task.onEvents(events);
    });
    return { end: judgeEnd(end), hadEvents };
  } finally {
    watch.stop();
  }
}

const LOST: Attempt = { kind: "lost", message: "The connection was lost." };

function judgeFailure(failure: ApiFailure): Attempt {
  if (failure.code === "token_needed") return { kind: "token_needed" };
  return { kind: failure.isPassing ? "lost" : "broken", message: failure.message };
}

function judgeEnd(end: StreamEnd): Attempt {
  switch (end) {
    case "done":
    case "waiting":
      return { kind: end };
    case "cut":
      return LOST;
    case "malformed":
      return { kind: "broken", message: "The server sent something that cannot be read." };
    case "too_large":
      return { kind: "broken", message: "The server sent more at once than fits." };
  }
}

/** Aborts a connection on which nothing arrives. */
function watchSilence(outer: AbortSignal, ports: FollowPorts) {
  const connection = new AbortController();
  let alarm = new AbortController();
  const stop = () => alarm.abort();
  const touch = () => {
    alarm.abort();
    const own = new AbortController();
    alarm = own;
    const expire = () => !own.signal.aborted && connection.abort();
    ports.wait(SILENCE_MS, own.signal).then(expire, expire);
  };
  touch();
  return { signal: AbortSignal.any([outer, connection.signal]), touch, stop };
}

import { say } from "../../texts/say.ts";
import type { Result } from "../../../protocol/outcome/result.ts";
import {
  readChunks,
  type StreamedEvent,
  type StreamEnd,
} from "../../../wire/assistant-transport/read-chunks.ts";
import type { ApiFailure, OpenStream } from "./api.ts";
import { backoffMs, type Wait } from "../../../client/backoff.ts";
import { watchSilence } from "../../../client/silence-watch.ts";

/** A run to follow to its end. */
export interface FollowTask {
  /** Opens the stream, at first and after each lost connection. Contract: safe to repeat. */
  readonly open: (signal: AbortSignal) => Promise<Result<OpenStream, ApiFailure>>;
  /** True once the run's last event was applied. */
  readonly isDone: () => boolean;
  readonly onEvents: (events: readonly StreamedEvent[]) => void;
  readonly onLink: (link: "open" | "reconnecting") => void;
  /** Waits before the return to a run that waits for people; ends early when the signal aborts. */
  readonly pause: (ms: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/** How following ended. `message` is for the reader. */
export type FollowEnd =
  | { readonly kind: "done" | "aborted" | "token_needed" | "moved" }
  | { readonly kind: "broken"; readonly message: string };

export interface FollowPorts {
  readonly wait: Wait;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
}

export const MAX_RECONNECTIONS = 6;
/** The delays grow from 0.4 s to 12.8 s. */
const FIRST_DELAY_MS = 400;

const GIVEN_UP =
  "The connection was lost and could not be restored. Check your network and select Try again.";

/**
 * Follows a run until its last event, and reconnects after a lost connection. The number of
 * reconnections in a row is bounded; each waits longer. An event that arrives resets the count.
 * While the run waits for people no connection stays open: the page returns when the server said.
 * Contract: never throws.
 */
export async function followRun(task: FollowTask, ports: FollowPorts): Promise<FollowEnd> {
  let losses = 0;
  for (;;) {
    const { end, hadEvents } = await followOnce(task, ports);
    if (task.signal.aborted) return { kind: "aborted" };
    if (end.kind === "waiting") {
      losses = 0;
      await task.pause(end.returnAfterMs);
      if (task.signal.aborted) return { kind: "aborted" };
      continue;
    }
    if (end.kind !== "lost") return end;
    losses = hadEvents ? 1 : losses + 1;
    if (losses > MAX_RECONNECTIONS) return { kind: "broken", message: say(GIVEN_UP) };
    task.onLink("reconnecting");
    const step = { firstMs: FIRST_DELAY_MS, attempt: losses, random: ports.random() };
    await ports.wait(backoffMs(step), task.signal);
    if (task.signal.aborted) return { kind: "aborted" };
  }
}

type AttemptEnd =
  | FollowEnd
  | { readonly kind: "lost" }
  | Extract<StreamEnd, { readonly kind: "waiting" }>;

interface Attempt {
  readonly end: AttemptEnd;
  readonly hadEvents: boolean;
}

async function followOnce(task: FollowTask, ports: FollowPorts): Promise<Attempt> {
  let hadEvents = false;
  const watch = watchSilence(task.signal, ports.wait);
  try {
    const opened = await task.open(watch.signal);
    if (!opened.ok) return { end: endOfFailure(opened.failure), hadEvents };
    if (!opened.value.body) return { end: { kind: task.isDone() ? "done" : "lost" }, hadEvents };
    task.onLink("open");
    const end = await readChunks(opened.value.body, (events) => {
      watch.touch();
      if (events.length === 0 || watch.signal.aborted) return;
      hadEvents = true;
      task.onEvents(events);
    });
    return { end: endOfStream(end), hadEvents };
  } finally {
    watch.stop();
  }
}

function endOfFailure({ code, isTransient, message }: ApiFailure): AttemptEnd {
  if (code === "token_needed" || code === "moved") return { kind: code };
  return isTransient ? { kind: "lost" } : { kind: "broken", message };
}

const UNREADABLE = "The server sent data that this page cannot read. Select Try again.";
const TOO_LARGE = "The server sent an event that is too large for this page. Select Try again.";

function endOfStream(end: StreamEnd): AttemptEnd {
  switch (end.kind) {
    case "done":
      return { kind: "done" };
    case "waiting":
      return end;
    case "cut":
      return { kind: "lost" };
    case "malformed":
      return { kind: "broken", message: say(UNREADABLE) };
    case "too_large":
      return { kind: "broken", message: say(TOO_LARGE) };
  }
}

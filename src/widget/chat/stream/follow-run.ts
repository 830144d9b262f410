import { say } from "../../texts/say.ts";
import { fail, type Result } from "../../../protocol/outcome/result.ts";
import { readChunks, type StreamedEvent } from "../../../wire/assistant-transport/read-chunks.ts";
import type { ApiFailure } from "./api.ts";
import { followStream, type FollowEnd as StreamEnd } from "../../../client/follow-stream.ts";
import type { OpenStream } from "../../../client/open-stream.ts";
import type { CallPorts } from "../../../client/ports.ts";

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

export type FollowPorts = Pick<CallPorts, "wait" | "random">;

/** A stream that ended before the run did. */
const CUT: ApiFailure = { code: "unreachable", message: "", isTransient: true };

/**
 * Follows a run until its last event, as the client does, and says in words why it cannot go on.
 * Contract: never throws.
 */
export async function followRun(task: FollowTask, ports: FollowPorts): Promise<FollowEnd> {
  const following = followStream(
    {
      ...task,
      read: readChunks,
      pause: (ms = 0) => task.pause(ms),
      async open(signal) {
        const opened = await task.open(signal);
        return opened.ok && !opened.value.body && !task.isDone() ? fail(CUT) : opened;
      },
    },
    ports,
  );
  for await (const step of following) {
    if (step.kind !== "events") return describeEnd(step);
    task.onEvents(step.events);
  }
  return { kind: "aborted" };
}

const GIVEN_UP =
  "The connection was lost and could not be restored. Check your network and select Try again.";
const UNREADABLE = "The server sent data that this page cannot read. Select Try again.";
const TOO_LARGE = "The server sent an event that is too large for this page. Select Try again.";

function describeEnd(end: StreamEnd<ApiFailure>): FollowEnd {
  if (end.kind === "malformed") return { kind: "broken", message: say(UNREADABLE) };
  if (end.kind === "too_large") return { kind: "broken", message: say(TOO_LARGE) };
  if (end.kind !== "broken") return end;
  const { code, isTransient, message } = end.failure ?? CUT;
  if (code === "token_needed" || code === "moved") return { kind: code };
  return { kind: "broken", message: isTransient ? say(GIVEN_UP) : message };
}

import type { Result } from "../../../protocol/outcome/result.ts";
import type { ApiFailure, ChatApi } from "./api.ts";
import { backoffMs } from "../../../client/backoff.ts";
import type { FollowPorts } from "./follow-run.ts";

/** How often a message is sent when no answer arrives. */
const MAX_SENDS = 3;
const FIRST_DELAY_MS = 800;

/** Sends a steering message to a run. */
export type SteerRun = (
  runId: string,
  message: string,
  signal: AbortSignal,
) => Promise<Result<undefined, ApiFailure>>;

export interface SteerPorts extends FollowPorts {
  readonly api: Pick<ChatApi, "steer">;
  /** Returns a new idempotency key. */
  readonly newKey: () => string;
}

/**
 * Creates the sender of steering messages. It repeats a message under one key until an answer
 * arrives, up to the limit.
 * Contract: never throws. A message whose outcome is unknown keeps its key when it is sent again.
 */
export function createSteering({ api, newKey, wait, random }: SteerPorts): SteerRun {
  let unconfirmed:
    | { readonly runId: string; readonly message: string; readonly key: string }
    | undefined;
  return async (runId, message, signal) => {
    const isSame = unconfirmed?.runId === runId && unconfirmed.message === message;
    const steering = isSame && unconfirmed ? unconfirmed : { runId, message, key: newKey() };
    unconfirmed = steering;
    for (let attempt = 1; ; attempt += 1) {
      const sent = await api.steer(runId, steering);
      if (sent.ok && unconfirmed === steering) unconfirmed = undefined;
      const isLost = !sent.ok && sent.failure.code === "unreachable";
      if (!isLost || attempt >= MAX_SENDS || signal.aborted) return sent;
      await wait(backoffMs({ firstMs: FIRST_DELAY_MS, attempt, random: random() }), signal);
    }
  };
}

import type { Result } from "../../../protocol/outcome/result.ts";
import type { ApiFailure, ChatApi } from "./api.ts";

/** Sends a steering message to a run. */
export type SteerRun = (
  runId: string,
  message: string,
  signal: AbortSignal,
) => Promise<Result<unknown, ApiFailure>>;

export interface SteerPorts {
  readonly api: Pick<ChatApi, "steer">;
  /** Returns a new idempotency key. */
  readonly newKey: () => string;
}

/**
 * Creates the sender of steering messages. The client repeats a message under its key.
 * Contract: never throws. A message whose outcome is unknown keeps its key when it is sent again.
 */
export function createSteering({ api, newKey }: SteerPorts): SteerRun {
  let unconfirmed:
    | { readonly runId: string; readonly message: string; readonly key: string }
    | undefined;
  return async (runId, message, signal) => {
    const isSame = unconfirmed?.runId === runId && unconfirmed.message === message;
    const steering = isSame && unconfirmed ? unconfirmed : { runId, message, key: newKey() };
    unconfirmed = steering;
    const sent = await api.steer(runId, { message, key: steering.key, signal });
    if (sent.ok && unconfirmed === steering) unconfirmed = undefined;
    return sent;
  };
}

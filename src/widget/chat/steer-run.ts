import type { Result } from "../../protocol/outcome/result.ts";
import type { ApiFailure, ChatApi } from "./api.ts";
import type { FollowPorts } from "./follow-run.ts";

/** How often a message is sent whose answer does not come. */
const MAX_SENDS = 3;
const RESEND_AFTER_MS = 800;

/** Says something to a run while it goes. */
export type TellRun = (
  runId: string,
  message: string,
  signal: AbortSignal,
) => Promise<Result<undefined, ApiFailure>>;

export interface TellPorts extends Pick<FollowPorts, "wait"> {
  readonly api: Pick<ChatApi, "steer">;
  /** Answers a key that was never used. */
  readonly newKey: () => string;
}

/**
 * Says a message under one key until an answer comes, a few times.
 * Contract: never throws; a message that was not taken for sure, said again, is said under the same key.
 */
export function createTellRun({ api, newKey, wait }: TellPorts): TellRun {
  let unsure:
    | { readonly runId: string; readonly message: string; readonly key: string }
    | undefined;
  return async (runId, message, signal) => {
    const isSame = unsure?.runId === runId && unsure.message === message;
    const said = isSame && unsure ? unsure : { runId, message, key: newKey() };
    unsure = said;
    for (let sends = 1; ; sends += 1) {
      const told = await api.steer(runId, said);
      if (told.ok && unsure === said) unsure = undefined;
      const isLost = !told.ok && told.failure.code === "unreachable";
      if (!isLost || sends >= MAX_SENDS || signal.aborted) return told;
      await wait(RESEND_AFTER_MS * sends, signal);
    }
  };
}

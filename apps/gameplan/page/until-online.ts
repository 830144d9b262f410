import { backoffMs, wait } from "../../../src/client/backoff.ts";

const FIRST_MS = 1_000;
/** The delays grow from 1 s to 16 s. */
const MAX_ATTEMPT = 5;

/** What the reader is told while the page waits for its line. */
export const SENT_AGAIN =
  "The connection was lost. The page tries this again by itself when it is back.";

/**
 * Waits until a try is worth it: the browser says that it is online, or some time is over. The
 * attempts count from 1. Contract: never rejects; resolves at once when aborted.
 */
export async function untilOnline(attempt: number, signal: AbortSignal): Promise<void> {
  const end = new AbortController();
  const finish = (): void => end.abort();
  addEventListener("online", finish, { signal: end.signal });
  signal.addEventListener("abort", finish, { signal: end.signal });
  const step = {
    firstMs: FIRST_MS,
    attempt: Math.min(attempt, MAX_ATTEMPT),
    random: Math.random(),
  };
  await wait(signal.aborted ? 0 : backoffMs(step), end.signal);
  end.abort();
}

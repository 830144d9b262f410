import type { Wait } from "./backoff.ts";

/**
 * A connection without a byte for this long is dead: the server sends keep-alives far more often.
 */
export const SILENCE_MS = 60_000;

/**
 * Watches a connection. Its `signal` aborts when nothing arrives, or when the outer signal aborts.
 */
export function watchSilence(outer: AbortSignal, wait: Wait) {
  const connection = new AbortController();
  let alarm = new AbortController();
  const stop = () => alarm.abort();
  const touch = () => {
    alarm.abort();
    const own = new AbortController();
    alarm = own;
    const expire = () => !own.signal.aborted && connection.abort();
    wait(SILENCE_MS, own.signal).then(expire, expire);
  };
  touch();
  return { signal: AbortSignal.any([outer, connection.signal]), touch, stop };
}

import type { Clock, Random } from "../../capabilities/system.ts";

/** The platform's clock and timers. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  schedule(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Random fractions to spread load. They are predictable: never use them for secrets. */
export const systemRandom: Random = { fraction: () => Math.random() };

/** Makes random bytes that are fit for secrets and nonces. */
export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length));
}

/** Sends a request with the platform's fetch, which must be called without a receiver. */
export function sendRequest(request: Request): Promise<Response> {
  return fetch(request);
}

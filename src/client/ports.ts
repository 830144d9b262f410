import { toHex } from "../protocol/text/hex.ts";
import { wait, type Wait } from "./backoff.ts";
import type { ApiOptions } from "./send-authorised.ts";

/** Where a deployment is, and how its caller proves who they are. */
export interface ClientOptions {
  /** Address of the deployment. */
  readonly baseUrl: string | URL;
  /** The access token. A function is asked before each request, and again after a 401. */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>) | undefined;
  /** Sends the requests; the platform's own unless said. */
  readonly fetch?: typeof fetch | undefined;
  /** Waits before repetitions; the platform's own timer unless said. */
  readonly wait?: Wait | undefined;
}

/** What requests of a client have in common. */
export interface CallPorts extends ApiOptions {
  readonly wait: Wait;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
  /** Returns a new idempotency key. */
  readonly newKey: () => string;
}

/** Fills in what a caller leaves to the platform. */
export function toPorts(options: ClientOptions): CallPorts {
  const { baseUrl, token, fetch: own, wait: pause = wait } = options;
  const address = new URL(baseUrl);
  if (!address.pathname.endsWith("/")) address.pathname += "/";
  return {
    baseUrl: address.href,
    token: async () => (typeof token === "function" ? token() : token),
    fetch: own ?? ((input, init) => fetch(input, init)),
    wait: pause,
    random: Math.random,
    newKey: createKey,
  };
}

/** Creates a random idempotency key. `randomUUID` is missing on pages served over plain HTTP. */
export function createKey(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(16)));
}

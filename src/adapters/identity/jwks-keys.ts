import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import type { Clock, KeepAlive } from "../../capabilities/system.ts";
import { type Fetch, HttpExchange } from "../egress/http-exchange.ts";

/** The JWKS endpoint is unreachable and the cached keys are absent or expired. */
export class KeysUnavailable extends Error {}

/** Age at which the keys are fetched again. */
const FRESH_MS = 10 * 60_000;
/**
 * Age until which cached keys count while the issuer is unreachable; revoked keys must end some
 * time.
 */
const USABLE_MS = 24 * 60 * 60_000;
/** Shortest time between two fetches, whatever tokens arrive. */
const COOL_DOWN_MS = 30_000;
/** The same while there are no keys yet and every token is refused. */
const FIRST_COOL_DOWN_MS = 3_000;
const TIMEOUT_MS = 3_000;
const MAX_BYTES = 128 * 1024;
/** How often a request checks whether another request has fetched the keys. */
const LOOK_EVERY_MS = 10;

export interface JwksPorts {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly keepAlive: KeepAlive;
}

type FindKey = ReturnType<typeof createLocalJWKSet>;

/**
 * Finds the key of a token among the keys that the issuer serves (RFC 7517), and caches them.
 * Threat: tokens with invented key ids, and an unreachable issuer. A key id only chooses among the
 * cached keys. All tokens together cause at most one fetch per cool-down. Cached keys stay valid.
 * Threat: a caller who asks first after each cool-down, and leaves. The fetch goes on without it.
 * Ownership: one per isolate. Each caller waits on its own timers, because the platform may end the
 * request that owns another caller's promise.
 */
export class JwksKeys {
  readonly #url: string;
  readonly #ports: JwksPorts;
  #known: { readonly find: FindKey; readonly atMs: number } | undefined;
  #fetchedAtMs = -Infinity;
  #hasReturned = true;

  constructor(url: string, ports: JwksPorts) {
    this.#url = url;
    this.#ports = ports;
  }

  /**
   * Fails: throws KeysUnavailable when there are no usable keys, the errors of `jose` otherwise.
   */
  readonly resolver: JWTVerifyGetKey = async (header, token) => {
    // Stale keys are still usable. A request waits for the fetch of another only without any keys.
    const mustWait = this.#known === undefined || !this.#isFetching();
    if (this.#ageMs() > FRESH_MS && mustWait) await this.#refresh();
    if (!this.#known || this.#ageMs() > USABLE_MS) throw new KeysUnavailable();
    try {
      return await this.#known.find(header, token);
    } catch (cause) {
      if (!(cause instanceof errors.JWKSNoMatchingKey)) throw cause;
      await this.#refresh();
      return this.#known.find(header, token);
    }
  };

  async #refresh(): Promise<void> {
    const { clock } = this.#ports;
    while (this.#isFetching()) await sleep(clock, LOOK_EVERY_MS);
    const coolDownMs = this.#known ? COOL_DOWN_MS : FIRST_COOL_DOWN_MS;
    if (this.#sinceFetchMs() < coolDownMs) return;
    this.#hasReturned = false;
    this.#fetchedAtMs = clock.nowMs();
    const reading = this.#read();
    this.#ports.keepAlive(reading);
    await reading;
  }

  async #read(): Promise<void> {
    const find = await readKeys(this.#url, this.#ports);
    this.#hasReturned = true;
    if (find) this.#known = { find, atMs: this.#ports.clock.nowMs() };
  }

  /** A fetch never returns when the platform ends its request, so it counts until its timeout. */
  #isFetching(): boolean {
    return !this.#hasReturned && this.#sinceFetchMs() < TIMEOUT_MS;
  }

  #sinceFetchMs(): number {
    return this.#ports.clock.nowMs() - this.#fetchedAtMs;
  }

  #ageMs(): number {
    return this.#known ? this.#ports.clock.nowMs() - this.#known.atMs : Infinity;
  }
}

/** Fetches the keys of the issuer; undefined on any failure. Contract: never throws. */
async function readKeys(
  url: string,
  { fetch, clock }: Pick<JwksPorts, "fetch" | "clock">,
): Promise<FindKey | undefined> {
  const abort = new AbortController();
  const stopTimer = clock.schedule(TIMEOUT_MS, () => abort.abort());
  const exchange = new HttpExchange({
    fetch,
    clock,
    idleTimeoutMs: TIMEOUT_MS,
    signal: abort.signal,
  });
  try {
    const headers = { accept: "application/jwk-set+json, application/json" };
    const opened = await exchange.open(url, { headers, redirect: "manual" });
    if (!opened.ok || opened.value.status !== 200) return undefined;
    const text = await readText(exchange);
    return text === undefined ? undefined : createLocalJWKSet(JSON.parse(text) as JSONWebKeySet);
  } catch {
    // A text that is no key set counts as no response.
    return undefined;
  } finally {
    stopTimer();
    exchange.close();
  }
}

async function readText(exchange: HttpExchange): Promise<string | undefined> {
  const utf8 = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const read = await exchange.read();
    if (!read.ok) return undefined;
    if (!read.value) return text + utf8.decode();
    bytes += read.value.byteLength;
    if (bytes > MAX_BYTES) return undefined;
    text += utf8.decode(read.value, { stream: true });
  }
}

function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.schedule(ms, resolve);
  });
}

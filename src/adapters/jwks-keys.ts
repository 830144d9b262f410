import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import type { Clock } from "../capabilities/system.ts";
import { type Fetch, HttpExchange } from "./http-exchange.ts";

/** Nobody can tell at the moment whether a token is sound. */
export class KeysUnavailable extends Error {}

/** After this time the keys are asked for again. */
const FRESH_MS = 10 * 60_000;
/** Until then they count though the issuer does not answer; a key that was taken back must end some time. */
const USABLE_MS = 24 * 60 * 60_000;
/** Shortest time between two requests, whatever tokens come meanwhile. */
const COOL_DOWN_MS = 30_000;
/** The same while there are no keys at all, and nobody can get in. */
const FIRST_COOL_DOWN_MS = 3_000;
const TIMEOUT_MS = 3_000;
const MAX_BYTES = 128 * 1024;
/** How often a request looks whether another one has brought the keys. */
const LOOK_EVERY_MS = 10;

export interface JwksPorts {
  readonly fetch: Fetch;
  readonly clock: Clock;
}

type FindKey = ReturnType<typeof createLocalJWKSet>;

/**
 * Finds the key of a token among those that the issuer serves (RFC 7517), and keeps them.
 * Threat: tokens with made-up key ids, and an issuer that is away. A key id only chooses among the
 * keys; all tokens together cause one request in a while; keys that are known go on to count.
 * Ownership: one per isolate. Each caller waits on timers of its own, for the platform may end the request
 * that another one's promise belongs to.
 */
export class JwksKeys {
  readonly #url: string;
  readonly #ports: JwksPorts;
  #known: { readonly find: FindKey; readonly atMs: number } | undefined;
  #askedAtMs = -Infinity;
  #isAsking = false;

  constructor(url: string, ports: JwksPorts) {
    this.#url = url;
    this.#ports = ports;
  }

  /** Fails: throws KeysUnavailable when there are no usable keys, the errors of `jose` otherwise. */
  readonly resolver: JWTVerifyGetKey = async (header, token) => {
    // Old keys are still good; only who has none waits for another's request.
    const isUnderWay = this.#known !== undefined && this.#isAsking;
    if (this.#ageMs() > FRESH_MS && !isUnderWay) await this.#refresh();
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
    while (this.#isAsking && this.#sinceAskedMs() < TIMEOUT_MS) await sleep(clock, LOOK_EVERY_MS);
    const coolDownMs = this.#known ? COOL_DOWN_MS : FIRST_COOL_DOWN_MS;
    if (this.#sinceAskedMs() < coolDownMs) return;
    this.#isAsking = true;
    this.#askedAtMs = clock.nowMs();
    const find = await readKeys(this.#url, this.#ports);
    this.#isAsking = false;
    if (find) this.#known = { find, atMs: clock.nowMs() };
  }

  #sinceAskedMs(): number {
    return this.#ports.clock.nowMs() - this.#askedAtMs;
  }

  #ageMs(): number {
    return this.#known ? this.#ports.clock.nowMs() - this.#known.atMs : Infinity;
  }
}

/** Asks the issuer; undefined when no set of keys came. Contract: never throws. */
async function readKeys(url: string, { fetch, clock }: JwksPorts): Promise<FindKey | undefined> {
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
    // What is no set of keys is no answer.
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

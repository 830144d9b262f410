import { isDeepStrictEqual } from "node:util";
import { createHttpEgress } from "../../../src/adapters/http-egress.ts";
import type { Egress } from "../../../src/capabilities/http.ts";
import type { AnyToolContract } from "../../../src/contracts/definition.ts";
import { isJsonObject, type JsonValue } from "../../../src/protocol/json/value.ts";
import { FakeClock } from "../../../src/testing/fake-clock.ts";
import { ANY, type Exchange } from "../exchange-files.ts";
import type { Checks } from "./test-mode.ts";

/** A request that may change something. */
export interface SentWrite {
  readonly method: string;
  readonly url: string;
  readonly key: string | null;
  readonly body: JsonValue;
}

/** The network of one run: the upstreams and hosts of one contract, played from its exchanges. */
export interface FakeNetwork {
  readonly egress: Egress;
  /** Requests that may change something, in order. */
  readonly writes: readonly SentWrite[];
  /** Requests that no exchange answers, `POST https://desk.test/tickets`. */
  readonly unanswered: readonly string[];
}

/**
 * Opens the network of a contract. The service honours idempotency keys: the same request under a
 * key gets the first response again, and another request under that key gets 422. `instead` answers
 * every request in place of the exchanges.
 */
export function openNetwork(
  { security, idempotency }: AnyToolContract,
  exchanges: readonly Exchange[],
  instead?: () => Response,
): FakeNetwork {
  const keyHeader = idempotency.keyHeader ?? "Idempotency-Key";
  const writes: SentWrite[] = [];
  const unanswered: string[] = [];
  return {
    writes,
    unanswered,
    egress: createHttpEgress({
      clock: new FakeClock(),
      addresses: new Map(security.upstreams.map((name) => [name, addressOf(name)])),
      async fetch(request) {
        const { method, url } = request;
        const body = readBody(await request.text());
        if (method !== "GET" && method !== "HEAD") {
          const write = { method, url, key: request.headers.get(keyHeader), body };
          const first = writes.find(({ key }) => key !== null && key === write.key);
          writes.push(write);
          if (first && !isDeepStrictEqual(first, write)) return new Response(null, { status: 422 });
        }
        if (instead) return instead();
        const exchange = exchanges.find((candidate) => answers(candidate, { method, url, body }));
        if (exchange) return toResponse(exchange);
        unanswered.push(`${method} ${url}`);
        throw new Error("no exchange answers");
      },
    }),
  };
}

/** Checks that the sample exchanges answer every request that a tool sent. */
export function checkAnswered(checks: Checks, { unanswered }: FakeNetwork): void {
  const hint = `no sample exchange answers ${unanswered[0]}; see docs/contracts.md`;
  checks.that("its sample exchanges answer its requests", unanswered.length === 0, hint);
}

function addressOf(upstream: string): string {
  return `https://${upstream}.test`;
}

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly body: JsonValue;
}

/** The query of a request is not compared. */
function answers({ request }: Exchange, sent: Sent): boolean {
  const target =
    "upstream" in request
      ? [addressOf(request.upstream), ...request.path.map(encodeURIComponent)].join("/")
      : request.url;
  const [wanted, got] = [new URL(target), new URL(sent.url)];
  if (request.method !== sent.method || wanted.origin !== got.origin) return false;
  const names = wanted.pathname.split("/");
  const sentNames = got.pathname.split("/");
  return (
    names.length === sentNames.length &&
    names.every((name, index) => name === ANY || name === sentNames[index]) &&
    (request.body === undefined || contains(sent.body, request.body))
  );
}

/** Tells whether a body has every field of a sample. */
function contains(body: JsonValue | undefined, sample: JsonValue): boolean {
  if (sample === ANY) return body !== undefined;
  if (!isJsonObject(sample) || !isJsonObject(body)) return isDeepStrictEqual(body, sample);
  return Object.entries(sample).every(([name, value]) => contains(body[name], value));
}

function readBody(text: string): JsonValue {
  return text === "" ? null : (JSON.parse(text) as JsonValue);
}

function toResponse({ response: { status, headers, body } }: Exchange): Response {
  return body === undefined
    ? new Response(null, { status, headers })
    : Response.json(body, { status, headers });
}

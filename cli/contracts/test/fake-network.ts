import { isDeepStrictEqual } from "node:util";
import { createHttpEgress } from "../../../src/adapters/egress/http-egress.ts";
import type { Egress } from "../../../src/capabilities/http.ts";
import type { AnyToolContract } from "../../../src/contracts/define/definition.ts";
import type { JsonValue } from "../../../src/protocol/json/value.ts";
import { FakeClock } from "../../../src/testing/time/fake-clock.ts";
import { isSampleOf, testAddressOf, toResponse } from "../../../src/testing/tool/exchange.ts";
import type { Exchange } from "./exchange-files.ts";
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
      addresses: new Map(security.upstreams.map((name) => [name, testAddressOf(name)])),
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
        const exchange = exchanges.find((candidate) =>
          isSampleOf(candidate.request, { method, url, body }),
        );
        if (exchange) return toResponse(exchange.response);
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

function readBody(text: string): JsonValue {
  return text === "" ? null : (JSON.parse(text) as JsonValue);
}

import * as v from "valibot";
import { describe, expect, test, vi } from "vitest";
import type { Egress, HttpClient } from "../../src/capabilities/http.ts";
import { type AuthorCode, revealCode, sealCode } from "../../src/contracts/define/author-code.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import { expectAnswer } from "../../src/contracts/define/expect-answer.ts";
import { registerContracts } from "../../src/contracts/check/register.ts";
import { bindTools } from "../../src/contracts/bind/tool-source.ts";
import type { ToolFailure } from "../../src/protocol/outcome/observation.ts";
import { ok, type Result } from "../../src/protocol/outcome/result.ts";
import type { ToolExecResult } from "../../src/protocol/invocation/record.ts";
import {
  fakeEgress,
  fakeRunCapabilities,
  fakeScope,
  runBound,
} from "../../src/testing/fakes/fakes.ts";
import { benchFor, endOf, passing, type Bench } from "../../src/testing/fakes/runner-ports.ts";

const URL_OF_SHOP = "https://shop.example/orders";

async function execute(
  { what }: { readonly what: string },
  _context: unknown,
  { http }: { readonly http: HttpClient },
): Promise<Result<{ order: string }, ToolFailure>> {
  const sent = await http.send({ method: "POST", url: URL_OF_SHOP, body: { what } });
  return expectAnswer(sent, { status: 201, body: v.object({ order: v.string() }) });
}

/** Orders with one request, which may be repeated with its key. */
const ordering = {
  name: "shop__order",
  version: "1.0.0",
  description: "Orders.",
  input: v.strictObject({ what: v.string() }),
  output: v.strictObject({ order: v.string() }),
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  redaction: { args: [], output: ["order"] },
  capabilities: ["http"],
  security: { egressPolicy: "allowlisted_domains", egressHosts: ["shop.example"] },
  transactional: { semantics: "irreversible_pivot" },
  idempotency: { supported: true },
  runtime: { maxRetries: 2 },
  execute,
} as const;
const order = defineTool(ordering);
const once = { ...order, idempotency: { ...order.idempotency, supported: false } };
const { idempotency: _, transactional: __, ...reading } = ordering;
const read = defineTool({ ...reading, sideEffectClass: "READ_ONLY", effect: "read_only" });
const created = (): Response => Response.json({ order: "o1" }, { status: 201 });

interface Http {
  readonly http: HttpClient;
}

/** The contract with other functions. */
function withCode(contract: typeof order, code: AuthorCode): AnyToolContract {
  return { ...contract, code: sealCode({ ...revealCode(contract), ...code }) };
}

interface Shop {
  readonly bench: Bench;
  readonly egress: Egress;
  readonly requests: readonly Request[];
  readonly buy: (what: string) => Promise<ToolExecResult>;
  readonly isUnknown: (what: string) => Promise<boolean>;
}

/** Opens a run over a shop with a list of answers. The last answer repeats. */
function open(contract: object, ...answers: readonly (() => Response | Promise<Response>)[]): Shop {
  const requests: Request[] = [];
  const egress = fakeEgress((request) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)] ?? created;
    requests.push(request);
    return answer();
  });
  const bench = benchFor([contract], { egress });
  const buy = (what: string): Promise<ToolExecResult> =>
    passing(bench.call("shop__order", { what }), bench.clock);
  /** Returns whether the outcome of a purchase is unknown. */
  const isUnknown = async (what: string): Promise<boolean> =>
    (await passing(bench.ask("shop__order", { what }), bench.clock)) === "waiting";
  return { bench, egress, requests, buy, isUnknown };
}

const keysOf = ({ requests }: Shop): readonly (string | null)[] =>
  requests.map(({ headers }) => headers.get("idempotency-key"));

test("every attempt of a call sends the same idempotency key, and every call sends another", async () => {
  const down = (): Response => new Response(null, { status: 503 });
  const shop = open(order, down, down, created);
  expect((await shop.buy("tea")).ok).toBe(true);
  expect((await shop.buy("tea")).ok).toBe(true);
  expect((await shop.buy("milk")).ok).toBe(true);
  const [first, second, third, again, other, ...more] = keysOf(shop);
  expect(first).toMatch(/^\S{16,}$/);
  expect([second, third, more]).toEqual([first, first, []]);
  expect(new Set([first, again, other])).toHaveProperty("size", 3);
});

test("the idempotency key uses the header that the contract names", async () => {
  const keyHeader = "X-Request-Key";
  const shop = open({ ...order, idempotency: { ...order.idempotency, keyHeader } }, created);
  await shop.buy("tea");
  expect(keysOf(shop)).toEqual([null]);
  expect(shop.requests[0]?.headers.get(keyHeader)).toMatch(/^\S{16,}$/);
});

test("only a tool that requires a connection may send credentials", async () => {
  const headers = { authorization: "Bearer t" };
  const authorising = withCode(read, {
    async execute(_args, _context, { http }: Http) {
      const sent = await http.send({ method: "GET", url: URL_OF_SHOP, headers });
      return sent.ok ? ok({ order: "o1" }) : sent;
    },
  });
  const shut = open(authorising, created);
  expect(endOf(await shut.buy("tea"))).toEqual(["POLICY_VIOLATION", "http_refused"]);
  const connected = {
    capabilities: ["http", "auth"],
    requiresConnection: true,
    security: { ...read.security, secretsBoundary: "gateway_injected" },
  };
  const auth = {
    getAccessToken: () => Promise.resolve("t"),
    getAuthHeaders: () => Promise.resolve(headers),
  };
  const shop = open({ ...authorising, ...connected }, created);
  const tool = bindTools(registerContracts([{ ...authorising, ...connected } as never]), {
    ...fakeRunCapabilities(),
    egress: shop.egress,
  }).getBoundTool("shop__order", "1.0.0");
  const done = tool && (await runBound(tool, { what: "tea" }, { ...fakeScope(), auth }));
  expect(done).toMatchObject({ ok: true });
  expect(shop.requests.map((request) => request.headers.get("authorization"))).toEqual([
    "Bearer t",
  ]);
});

test("a response may have at most eight times the size of the result", async () => {
  const ofBytes = (bytes: number) => (): Response => {
    const frame = JSON.stringify({ order: "" }).length;
    return Response.json({ order: "x".repeat(bytes - frame) }, { status: 201 });
  };
  const small = { ...read, runtime: { ...read.runtime, maxResultBytes: 100 } };
  expect(endOf(await open(small, ofBytes(801)).buy("tea"))[1]).toBe("http_unreadable");
  expect(endOf(await open(small, ofBytes(800)).buy("tea"))[1]).not.toBe("http_unreadable");
});

test("a read tool sends no idempotency key", async () => {
  const shop = open(read, created);
  await shop.buy("tea");
  expect(keysOf(shop)).toEqual([null]);
});

test("a failed request of a write that is not idempotent is not repeated", async () => {
  const shop = open(once, () => new Response(null, { status: 503 }));
  expect(await shop.isUnknown("tea")).toBe(true);
  expect(shop.requests).toHaveLength(1);
});

describe("an unreadable response", () => {
  const garbled = (): Response => new Response("created", { status: 201 });

  test("leaves a write with an unknown outcome", async () => {
    expect(await open(once, garbled).isUnknown("tea")).toBe(true);
  });

  test("ends a read as a failure", async () => {
    expect(endOf(await open(read, garbled).buy("tea"))).toEqual([
      "OBSERVATION_NORMALIZATION_FAIL",
      "http_unreadable",
    ]);
  });
});

test("a request whose key is in use is retried with the same key", async () => {
  const shop = open(order, () => new Response(null, { status: 409 }), created);
  expect((await shop.buy("tea")).ok).toBe(true);
  expect(new Set(keysOf(shop))).toHaveProperty("size", 1);
});

test("a key that stays in use leaves the outcome unknown", async () => {
  const shop = open(order, () => new Response(null, { status: 409 }));
  expect(await shop.isUnknown("tea")).toBe(true);
  expect(new Set(keysOf(shop))).toHaveProperty("size", 1);
});

test("a retry waits for the time in the service's retry-after header", async () => {
  const headers = { "retry-after": "20" };
  const shop = open(order, () => new Response(null, { status: 429, headers }), created);
  const start = shop.bench.clock.nowMs();
  expect((await shop.buy("tea")).ok).toBe(true);
  expect(shop.bench.clock.nowMs() - start).toBeGreaterThanOrEqual(20_000);
});

test("a write tool's state check may send only reads", async () => {
  const methods = ["GET", "POST"] as const;
  const ends: unknown[] = [];
  const asking = withCode(order, {
    async checkState(_args, _context, { http }: Http) {
      for (const method of methods) {
        const sent = await http.send({ method, url: URL_OF_SHOP });
        ends.push(sent.ok || sent.failure.errors[0]?.code);
      }
      return ok(null);
    },
  });
  const shop = open(asking, created);
  expect((await shop.buy("tea")).ok).toBe(true);
  expect(ends).toEqual([true, "http_refused"]);
  expect(shop.requests.map(({ method }) => method)).toEqual(["GET", "POST"]);
});

test("a second write with one key is not sent and leaves the outcome unknown", async () => {
  const twice = withCode(once, {
    async execute(_args, _context, { http }: Http) {
      await http.send({ method: "POST", url: URL_OF_SHOP });
      return http.send({ method: "POST", url: URL_OF_SHOP });
    },
  });
  const shop = open(twice, created);
  expect(await shop.isUnknown("tea")).toBe(true);
  expect(shop.requests).toHaveLength(1);
});

test("a tool that keeps its http client cannot send after its invocation", async () => {
  const kept: HttpClient[] = [];
  const keeping = withCode(order, {
    execute(_args, _context, { http }: Http) {
      kept.push(http);
      return ok({ order: "o1" });
    },
  });
  const shop = open(keeping, created);
  await shop.buy("tea");
  await shop.buy("tea");
  for (const http of kept) {
    expect(() => http.send({ method: "GET", url: URL_OF_SHOP })).toThrow("invocation is over");
  }
  expect(shop.requests).toEqual([]);
});

test("a cancelled run aborts a request whose response never ends", async () => {
  const cancelled = vi.fn<() => void>();
  const endless = (): Response =>
    new Response(
      new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new Uint8Array(1)),
        cancel: cancelled,
      }),
    );
  const abort = new AbortController();
  const shop = open(read, endless);
  const ending = shop.bench.call("shop__order", { what: "tea" }, { signal: abort.signal });
  await vi.waitFor(() => expect(shop.requests).toHaveLength(1));
  abort.abort();
  expect(endOf(await ending)).toEqual(["UNKNOWN_ERROR", "cancelled"]);
  await vi.waitFor(() => expect(cancelled).toHaveBeenCalled());
  expect(shop.requests[0]?.signal.aborted).toBe(true);
});

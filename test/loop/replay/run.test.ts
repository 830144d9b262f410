import { beforeEach, describe, expect, test } from "vitest";
import type { ConnectionId } from "../../../src/protocol/identity/ids.ts";
import { fail, ok } from "../../../src/protocol/outcome/result.ts";
import {
  forbiddenCalls,
  happen,
  replay,
  TestInbox,
  type Happening,
} from "../../../src/testing/fakes/evidence.ts";
import { PNG } from "../../shared/files.ts";
import type { AuthCapability } from "../../../src/capabilities/connection.ts";
import type { ReservationAnswer } from "../../../src/capabilities/budget.ts";
import { approveAtDesk } from "../../../src/testing/fakes/approve-at-desk.ts";
import { noteTool, readTool } from "../../shared/tools.ts";

beforeEach(() => {
  forbiddenCalls.length = 0;
});

const down = fail({
  taxonomyClass: "DEPENDENCY_UNAVAILABLE",
  errors: [{ field: null, code: "down", message: "it is down" }],
});
const read = (...answers: readonly unknown[]) =>
  readTool(
    answers.map((answer) => () => answer),
    { runtime: { maxRetries: 2 } },
  ).tool;
const stale = fail({
  taxonomyClass: "STALE_STATE",
  errors: [{ field: null, code: "moved", message: "it has moved" }],
});
const withText = (text: string) => ok({ text });
const note = (change: object = {}) => noteTool(change).tool;
const noting = (text: string) => ["test__note", { text }] as const;
const reading = ["test__read", { id: "a" }] as const;
/** A ledger with these answers to reservations. The last answer repeats. */
const ledgerOf = (...answers: readonly ReservationAnswer[]) => {
  let asked = 0;
  const reserve = () => {
    const answer = answers[Math.min(asked++, answers.length - 1)];
    return Promise.resolve(answer ?? { kind: "reserved" as const });
  };
  return {
    reserve,
    peek: () => Promise.resolve({ kind: "reserved" as const }),
    settle: () => Promise.resolve(),
    release: () => Promise.resolve(),
  };
};
const PIN = { revision: 1, hash: "sha256:1" };
/** A run of two calls that need approval. One of them cannot read the current policy. */
const askedBeside = (away: string, decided: number): Happening => ({
  contracts: [note()],
  policy: { allowedTools: ["test__note"], requireApprovalForEffects: ["state_change"] },
  answers: [{ calls: [noting("a"), noting("b")] }, {}],
  ports: {
    registry: {
      current: (_tenantId, asker) =>
        asker?.toolCallId === away ? Promise.reject(new Error("away")) : Promise.resolve(PIN),
    },
  },
  decide: (desk) => approveAtDesk(desk, { invocation: decided }),
});

/** Runs of every kind, with what shows in their logs: each decided again comes to the same. */
const RUNS: Readonly<Record<string, readonly [...string[], () => Happening]>> = {
  "that only says something": ["Hello", () => ({ contracts: [], answers: [{ text: "Hello" }] })],
  "whose calls go well, fail, are refused and are mended": [
    "unknown_tool",
    "not_json",
    "TYPE_MISMATCH",
    "SUCCESS",
    () => ({
      contracts: [note(), read(withText("found"))],
      answers: [
        { text: "Let me see", calls: [noting("a"), ["test__note", "{"], ["nowhere", {}]] },
        { calls: [["test__note", { text: 5 }], reading, reading] },
        { calls: [noting("b")] },
        { text: "There" },
      ],
    }),
  ],
  "whose output is tidied, cut, or does not fit": [
    "images, hidden",
    "was cut to",
    "invalid_output",
    () => ({
      contracts: [
        readTool([() => withText(`![](x) ${"y".repeat(2_000)}`)], {
          security: { untrustedOutput: true },
          runtime: { maxResultBytes: 1_024 },
        }).tool,
        note({ execute: () => ok({ text: 5 }) }),
      ],
      answers: [{ calls: [reading, noting("a")] }, {}],
    }),
  ],
  "whose tools answer text and images": [
    "image/png",
    "a caption",
    () => ({
      contracts: [
        note({
          content: { maxImages: 1, maxTextBytes: 100 },
          execute: () => ({
            ...ok({ text: "a" }),
            content: [
              { type: "text", text: "a caption" },
              { type: "image", mediaType: "image/png", base64: PNG },
            ],
          }),
        }),
      ],
      policy: { allowedTools: ["test__note"], budgets: { maxTokens: 100_000 } },
      answers: [{ calls: [noting("a")] }, {}],
    }),
  ],
  "whose tools are tried again, in vain or not": [
    '"attempt_number":2',
    '"attempt_number":3',
    '"code":"down"',
    () => ({
      contracts: [read(down, withText("found"), down)],
      answers: [{ calls: [reading] }, { calls: [reading] }, {}],
    }),
  ],
  "whose tool waits for its rate": [
    '"attempt":2',
    () => ({
      contracts: [
        readTool([() => withText("a")], {
          runtime: { maxRetries: 1, rateLimit: { windowSeconds: 20, maxRequests: 1 } },
        }).tool,
      ],
      answers: [{ calls: [reading, ["test__read", { id: "b" }]] }, {}],
    }),
  ],
  "whose tool gives its word that nothing happened": [
    '"code":"down"',
    () => ({
      contracts: [
        note({ execute: () => fail({ ...down.failure, notCommitted: true }), errors: {} }),
      ],
      answers: [{ calls: [noting("a")] }, {}],
    }),
  ],
  "whose effect was found by its contract": [
    '"idempotency_hit":true',
    () => ({
      contracts: [
        note({
          execute: () => down,
          reconcile: () => Promise.resolve({ kind: "committed", output: { text: "done" } }),
        }),
      ],
      answers: [{ calls: [noting("a")] }, {}],
    }),
  ],
  "whose target has moved": [
    '"code":"moved"',
    () => ({
      contracts: [note({ checkState: () => stale, errors: { moved: "STALE_STATE" } })],
      answers: [{ calls: [noting("a")] }, {}],
    }),
  ],
  "that goes in circles": [
    "doom_loop",
    () => ({
      contracts: [read(withText("the same"))],
      answers: [...Array.from({ length: 5 }, () => ({ calls: [reading] })), {}],
    }),
  ],
  "whose tool is withdrawn": [
    "repair_ended",
    () => ({
      contracts: [note()],
      answers: [
        ...Array.from({ length: 4 }, () => ({ calls: [["test__note", { text: 5 }] as const] })),
        { calls: [noting("late")] },
        {},
      ],
    }),
  ],
  "that policy refuses": [
    "argument_rule",
    "not_allowed",
    () => ({
      contracts: [note(), read(withText("a"))],
      policy: {
        allowedTools: ["test__note"],
        argumentRules: [{ tool: "test__note", field: "/text", must: { beOneOf: ["good"] } }],
      },
      answers: [{ calls: [noting("good"), noting("bad"), reading] }, {}],
    }),
  ],
  "whose budgets end": [
    "this call would exceed what is left of the run's writes budget",
    "The run has used up its budget: tokens",
    () => ({
      contracts: [note()],
      policy: { allowedTools: ["test__note"], budgets: { maxWrites: 1, maxTokens: 2_000 } },
      answers: [{ calls: [noting("a"), noting("b")] }, { calls: [noting("c")] }, {}, {}],
    }),
  ],
  "whose tool is paid by the second, and has used its budget": [
    "left of the run's cost budget",
    () => ({
      contracts: [
        readTool([() => new Promise(() => {})], {
          runtime: {
            cost: { currency: "USD", perCall: 1, unit: "second" },
            timeoutMs: 6_000,
            maxRetries: 0,
          },
        }).tool,
      ],
      policy: { allowedTools: ["test__read"], budgets: { maxCost: 10 } },
      answers: [{ calls: [reading, ["test__read", { id: "b" }]] }, {}],
    }),
  ],
  "whose deployment gives no context": [
    "context_unavailable",
    () => ({
      contracts: [],
      answers: [{}],
      ports: { contextHook: () => Promise.reject(new Error("no such page")) },
    }),
  ],
  "whose deployment gives a context of another shape": [
    "context_invalid",
    () => ({
      contracts: [],
      answers: [{}],
      ports: { contextHook: () => Promise.resolve({ page: "x" } as object) },
    }),
  ],
  "whose instructions lack the value of a variable": [
    "context_invalid",
    () => ({ contracts: [], claim: { instructions: "Help {{context.name}}." }, answers: [{}] }),
  ],
  "whose steps end": [
    "step_limit",
    () => ({
      contracts: [note()],
      policy: { allowedTools: ["test__note"], budgets: { maxSteps: 2 } },
      answers: [{ calls: [noting("a")] }, { calls: [noting("b")] }, {}],
    }),
  ],
  "whose tenant has nothing left": [
    "the tenant's writes budget",
    "rate_limited",
    "cannot be reached",
    () => ({
      contracts: [note()],
      answers: [{ calls: ["a", "b", "c", "d"].map(noting) }, {}],
      ports: {
        ledger: ledgerOf(
          { kind: "reserved" },
          { kind: "exhausted", budget: "writes" },
          { kind: "rate_limited", retryAfterMs: 99_000 },
          { kind: "unavailable" },
        ),
      },
    }),
  ],
  "whose tenant is away when a tool is tried again": [
    "cannot be reached",
    '"attempt":2',
    () => ({
      contracts: [
        note({
          execute: () => fail({ ...down.failure, notCommitted: true }),
          runtime: { maxRetries: 2 },
        }),
      ],
      answers: [{ calls: [noting("a")] }, {}],
      ports: { ledger: ledgerOf({ kind: "reserved" }, { kind: "unavailable" }) },
    }),
  ],
  "whose approved call cannot read the policy when it is tried again": [
    "current policy cannot be read",
    '"attempt":2',
    () => {
      let reads = 0;
      const refuses = () => fail({ ...down.failure, notCommitted: true });
      return {
        ...askedBeside("", 1),
        contracts: [note({ execute: refuses, runtime: { maxRetries: 1 } })],
        answers: [{ calls: [noting("a")] }, {}],
        ports: {
          registry: {
            current: () => (++reads > 2 ? Promise.reject(new Error("away")) : Promise.resolve(PIN)),
          },
        },
      };
    },
  ],
  "whose first of two calls cannot read the policy while people decide about the other": [
    "current policy cannot be read",
    '"wasAsked":true',
    () => askedBeside("call_1_0", 2),
  ],
  "whose second of two calls cannot read the policy while people decide about the other": [
    "current policy cannot be read",
    '"wasAsked":true',
    () => askedBeside("call_1_1", 1),
  ],
  "whose tenant has no tokens left": [
    "the tenant's tokens",
    () => {
      let asked = 0;
      return {
        contracts: [note()],
        policy: { allowedTools: ["test__note"], tenantBudgets: { maxTokens: 5 } },
        answers: [{ calls: [noting("a")] }, {}],
        ports: {
          ledger: {
            reserve: ({ id }) =>
              Promise.resolve(
                id.includes("/model/") && ++asked > 1
                  ? { kind: "exhausted", budget: "tokens" }
                  : { kind: "reserved" },
              ),
            peek: () => Promise.resolve({ kind: "reserved" }),
            settle: () => Promise.resolve(),
            release: () => Promise.resolve(),
          },
        },
      };
    },
  ],
  "whose connection is not there": [
    "unknown_connection",
    () => ({
      contracts: [read(), note({ requiresConnection: true, capabilities: ["auth"] })],
      policy: {
        allowedTools: ["test__note"],
        grants: [{ connectionId: "con", tools: ["test__note"] }],
      },
      claim: { connectionIds: ["con" as ConnectionId] },
      answers: [{ calls: [noting("a")] }, {}],
    }),
  ],
  "whose second of two parallel calls cannot read the connection": [
    "unreadable_connection",
    '"text":"found"',
    () => ({
      contracts: [
        readTool([() => withText("found")], {
          parallel: true,
          requiresConnection: true,
          capabilities: ["auth"],
        }).tool,
      ],
      policy: {
        allowedTools: ["test__read"],
        grants: [{ connectionId: "con", tools: ["test__read"] }],
      },
      claim: { connectionIds: ["con" as ConnectionId] },
      answers: [{ calls: ["a", "b"].map((id) => ["test__read", { id }] as const) }, {}],
      ports: {
        broker: {
          bind: (_tenantId, _connectionId, { call }) =>
            Promise.resolve(
              call?.toolCallId === "call_1_1"
                ? fail({ code: "unreadable_connection" as const })
                : ok({ auth: {} as AuthCapability, secrets: [] }),
            ),
        },
      },
    }),
  ],
  "whose model fails for good": [
    "HTTP 401",
    () => ({
      contracts: [note()],
      answers: [
        { calls: [noting("a")] },
        { finish: "error", failure: { code: "upstream_status", status: 401, detail: "" } },
      ],
    }),
  ],
  "whose model fails, is asked again and goes on": [
    "text_withdrawn",
    "step_limit",
    () => ({
      contracts: [note()],
      policy: { allowedTools: ["test__note"], budgets: { maxSteps: 3 } },
      answers: [
        { text: "half", finish: "error", failure: { code: "upstream_truncated", detail: "" } },
        { calls: [noting("a")] },
        { calls: [noting("b")] },
      ],
    }),
  ],
  "that people spoke to": [
    "skipped",
    () => {
      const inbox = new TestInbox();
      const speaks = note({
        execute(args: { readonly text: string }) {
          if (args.text === "a") inbox.put("stop that");
          return ok(args);
        },
      });
      return {
        contracts: [speaks],
        answers: [
          { text: "so", calls: [noting("a"), noting("b")] },
          { text: "well", meanwhile: () => inbox.put("and more") },
          { text: "fine" },
        ],
        ports: { inbox },
      };
    },
  ],
  "whose tools run beside each other": [
    '"attempt":2',
    '"text":"c"',
    () => ({
      contracts: [
        readTool([() => down, () => withText("b"), () => withText("c")], { parallel: true }).tool,
      ],
      answers: [{ calls: ["a", "b", "c"].map((id) => ["test__read", { id }] as const) }, {}],
    }),
  ],
};

describe("a finished run", () => {
  test.each(Object.entries(RUNS))(
    "%s is decided alike from its record, and no tool runs",
    async (_, [...shown]) => {
      const set = shown.pop() as () => Happening;
      const run = set();
      const evidence = await happen(run);
      expect(evidence.log.at(-1)?.type).toBe("done");
      for (const word of shown) expect(JSON.stringify(evidence.log)).toContain(word);
      const replayed = await replay(evidence, run.contracts);
      expect(replayed).toMatchObject({ ok: true });
      if (!replayed.ok) return;
      expect(replayed.value.recorded).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(replayed.value.replayed).toBe(replayed.value.recorded);
      expect(forbiddenCalls).toEqual([]);
    },
  );
});

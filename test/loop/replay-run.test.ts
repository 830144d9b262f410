import * as v from "valibot";
import { beforeEach, describe, expect, test } from "vitest";
import type { RunEvidence } from "../../src/loop/replay/run-evidence.ts";
import type { AiEvent } from "../../src/protocol/ai-event.ts";
import type { ConnectionId } from "../../src/protocol/ids.ts";
import { fail, ok } from "../../src/protocol/result.ts";
import { forbiddenCalls, happen, replay, TestInbox, type Happening } from "../suites/evidence.ts";
import { policyOf } from "../suites/fakes.ts";
import { AS_READ, noteTool, readTool } from "../suites/tools.ts";

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
  "that waits for nobody's approval": [
    "approval_required",
    () => ({
      contracts: [note()],
      policy: { allowedTools: ["test__note"], requireApprovalForEffects: ["state_change"] },
      answers: [{ calls: [noting("a")] }, {}],
    }),
  ],
  "whose budgets end": [
    "the run's writes budget is used up",
    "The run has used up its budget: tokens",
    () => ({
      contracts: [note()],
      policy: { allowedTools: ["test__note"], budgets: { maxWrites: 1, maxTokens: 26 } },
      answers: [{ calls: [noting("a"), noting("b")] }, { calls: [noting("c")] }, {}, {}],
    }),
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
    () => {
      const answers = [
        { kind: "reserved" },
        { kind: "exhausted", budget: "writes" },
        { kind: "rate_limited", retryAfterMs: 99_000 },
        { kind: "unavailable" },
      ] as const;
      let asked = 0;
      return {
        contracts: [note()],
        answers: [{ calls: ["a", "b", "c", "d"].map(noting) }, {}],
        ports: {
          ledger: {
            reserve: () => Promise.resolve(answers[asked++] ?? { kind: "reserved" }),
            charge: () => Promise.resolve(),
          },
        },
      };
    },
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
            charge: () => Promise.resolve(),
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

describe("what was changed afterwards", () => {
  const hidden = {
    input: v.strictObject({ text: v.string(), secret: v.optional(v.string()) }),
  };
  const contracts = (change: object = {}) => [note({ ...hidden, ...change })];
  const record = () =>
    happen({
      contracts: contracts(),
      answers: [
        { text: "see", calls: [["test__note", { text: "a", secret: "s" }]] },
        { text: "so" },
      ],
    });

  async function hashesOf(
    evidence: RunEvidence,
    decidedBy: readonly unknown[] = contracts(),
  ): Promise<readonly [recorded: string, replayed: string]> {
    const { ok: isReplayed, ...rest } = await replay(evidence, decidedBy);
    if (!isReplayed || !("value" in rest)) throw new Error(JSON.stringify(rest));
    expect(forbiddenCalls).toEqual([]);
    return [rest.value.recorded, rest.value.replayed];
  }

  const edit = (log: readonly AiEvent[], from: string, to: string): readonly AiEvent[] => {
    const text = JSON.stringify(log);
    expect(text).toContain(from);
    return JSON.parse(text.replaceAll(from, to)) as AiEvent[];
  };

  test.each([
    ["a result", '"data":{"text":"a"}', '"data":{"text":"b"}'],
    ["a started call's arguments", '"args":{"text":"a"}', '"args":{"text":"b"}'],
    ["a tool's name", '"toolName":"test__note"', '"toolName":"test__other"'],
    ["a class", '"taxonomy_class":"SUCCESS"', '"taxonomy_class":"PARTIAL_SUCCESS"'],
    ["what was said", '"text":"so"', '"text":"no"'],
    ["the usage of a step", '"outputTokens":3', '"outputTokens":4'],
    ["the end", '"type":"done","reason":"stop"', '"type":"done","reason":"length"'],
  ])("in the log, %s, gives another hash", async (_, from, to) => {
    const evidence = await record();
    const [recorded] = await hashesOf(evidence);
    const [changed] = await hashesOf({ ...evidence, log: edit(evidence.log, from, to) });
    expect(changed).not.toBe(recorded);
  });

  test.each([
    ["a result", '"data":{"text":"a"}', '"data":{"text":"b"}'],
    ["a class", '"taxonomy_class":"SUCCESS"', '"taxonomy_class":"PARTIAL_SUCCESS"'],
  ])("in the log alone, %s, is not decided alike", async (_, from, to) => {
    const evidence = await record();
    const [recorded, replayed] = await hashesOf({
      ...evidence,
      log: edit(evidence.log, from, to),
    });
    expect(replayed).not.toBe(recorded);
  });

  test.each([
    ["its outcome", '"data":{"text":"a"}', '"data":{"text":"b"}'],
    ["arguments that are shown", '\\"text\\":\\"a\\"', '\\"text\\":\\"b\\"'],
    // Mutant: a played tool that does not look at the key.
    ["arguments that are not shown", '\\"secret\\":\\"s\\"', '\\"secret\\":\\"t\\"'],
    ["that it was dispatched", '"dispatches":1', '"dispatches":0'],
  ])("in a record, %s, is not decided alike", async (_, from, to) => {
    const evidence = await record();
    const text = JSON.stringify(evidence.invocations);
    expect(text).toContain(from);
    const invocations = JSON.parse(text.replaceAll(from, to)) as RunEvidence["invocations"];
    const [recorded, replayed] = await hashesOf({ ...evidence, invocations });
    expect(replayed).not.toBe(recorded);
  });

  test.each([
    ["what it allows", { allowedTools: [] }],
    [
      "what it wants of arguments",
      {
        allowedTools: ["test__note"],
        argumentRules: [{ tool: "test__note", field: "/text", must: { beOneOf: ["b"] } }],
      },
    ],
    ["whom it asks", { allowedTools: ["test__note"], requireApprovalForEffects: ["state_change"] }],
    ["its limit of steps", { allowedTools: ["test__note"], budgets: { maxSteps: 1 } }],
    ["its budgets", { allowedTools: ["test__note"], budgets: { maxTokens: 5 } }],
  ])("in the policy, %s, is not decided alike", async (_, document) => {
    const evidence = await record();
    const policy = { ...evidence.policy, policy: policyOf(document) };
    const [recorded, replayed] = await hashesOf({ ...evidence, policy });
    expect(replayed).not.toBe(recorded);
  });

  test("a policy that would have let more pass is not decided alike", async () => {
    const document = {
      allowedTools: ["test__note"],
      argumentRules: [{ tool: "test__note", field: "/text", must: { beOneOf: ["b"] } }],
    };
    const evidence = await happen({
      contracts: contracts(),
      policy: document,
      answers: [{ calls: [noting("a")] }, {}],
    });
    const policy = { ...evidence.policy, policy: policyOf({ allowedTools: ["test__note"] }) };
    const [recorded, replayed] = await hashesOf({ ...evidence, policy });
    expect(replayed).not.toBe(recorded);
  });

  const rule = { code: "never", message: "expected another text", holds: () => false };
  test.each([
    ["its version", { version: "1.0.1" }],
    ["its input", { input: v.strictObject({ text: v.number() }) }],
    ["its rules", { rules: [{ ...rule, counterexample: { text: "a" } }] }],
    ["what it shows of arguments", { redaction: { args: [], output: ["text"] } }],
    ["what it shows of its output", { redaction: { args: ["text"], output: [] } }],
    ["its scopes", { security: { requiredScopes: ["notes:write"] } }],
    ["that a person has to approve", { transactional: { confirmationRequired: true } }],
  ])("in the contract, %s, is not decided alike", async (_, change) => {
    const [recorded, replayed] = await hashesOf(await record(), contracts(change));
    expect(replayed).not.toBe(recorded);
  });
});

describe("not replayable, and it says why, is a run", () => {
  const answers = [{ calls: [noting("a")] }, {}];
  const reasonOf = async (
    run: Happening,
    contracts: readonly unknown[] = run.contracts,
  ): Promise<unknown> => replay(await happen(run), contracts);
  const refused = (reason: string) => ({ failure: { code: "not_replayable", reason } });

  test("that has not ended", async () => {
    const evidence = await happen({ contracts: [], answers: [{}] });
    const log = evidence.log.slice(0, -1);
    expect(await replay({ ...evidence, log }, [])).toMatchObject(refused("unfinished"));
  });

  test.each([
    ["cancelled", "cancelled"],
    ["out of time", "time"],
    ["given up", "interrupted"],
  ])("that was stopped: %s", async (_, why) => {
    const signal = AbortSignal.abort(why);
    expect(await reasonOf({ contracts: [note()], answers, signal })).toMatchObject(
      refused("stopped"),
    );
  });

  test("that broke inside", async () => {
    const ports = {
      model: {
        stream() {
          throw new Error("a bug");
        },
      },
    };
    expect(await reasonOf({ contracts: [], answers, ports })).toMatchObject(refused("broken"));
  });

  test("in which an operator was asked", async () => {
    const evidence = await happen({ contracts: [note({ execute: () => down })], answers });
    expect(evidence.log.at(-1)?.type).toBe("tool_call_waiting");
    const log: readonly AiEvent[] = [
      ...evidence.log,
      { type: "done", reason: "stop", usage: { inputTokens: 0, outputTokens: 0 } },
    ];
    const invocations = evidence.invocations.map((record) => ({
      ...record,
      settlement: { outcome: "committed" as const, atMs: 0 },
      end: {} as never,
    }));
    expect(await replay({ ...evidence, log, invocations }, [note()])).toMatchObject(
      refused("operator"),
    );
  });

  const veto = { code: "house_rule", message: "not in this house" };
  test.each([
    ["before a call", note(), { before: () => Promise.resolve(veto) }],
    ["after one that went well", note(), { after: () => Promise.resolve(veto) }],
    [
      "after one that failed",
      note({ ...AS_READ, execute: () => stale, errors: { moved: "STALE_STATE" } }),
      { after: () => Promise.resolve(veto) },
    ],
  ])("that a hook had its say in, %s", async (_, tool, hook) => {
    const ports = { hooks: [hook] };
    expect(await reasonOf({ contracts: [tool], answers, ports })).toMatchObject(refused("vetoed"));
  });

  test("that a later policy has refused a call of", async () => {
    const pin = { revision: 2, hash: "sha256:2" };
    const policy = policyOf({ allowedTools: ["test__note"] });
    const ports: Happening["ports"] = {
      ledger: {
        reserve: () => Promise.resolve({ kind: "policy_changed", pin }),
        charge: () => Promise.resolve(),
      },
      policies: {
        load: () => Promise.resolve({ policy, pin: { revision: 1, hash: "sha256:1" } }),
        learn: () => {},
        read: () => Promise.resolve({ policy: policyOf({ allowedTools: [] }), pin }),
      },
    };
    expect(await reasonOf({ contracts: [note()], answers, ports })).toMatchObject(
      refused("policy_changed"),
    );
  });

  test("in which a check of a contract broke", async () => {
    const tool = note({
      checkState: () => {
        throw new Error("a bug");
      },
    });
    expect(await reasonOf({ contracts: [tool], answers })).toMatchObject(refused("unclear"));
  });
});

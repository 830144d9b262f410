import { describe, expect, test } from "vitest";
import type { Reservation, ReservationAnswer } from "../../src/capabilities/budget.ts";
import type { PolicyStore } from "../../src/capabilities/policy.ts";
import type { Model } from "../../src/capabilities/model.ts";
import type { RunPorts } from "../../src/loop/run-scope.ts";
import { runLoop } from "../../src/loop/run-loop.ts";
import { newRunMemory } from "../../src/loop/run-memory.ts";
import type { ToolCallId } from "../../src/protocol/identity/ids.ts";
import type { ModelAnswer } from "../../src/protocol/model/event.ts";
import { DENY_ALL } from "../../src/protocol/policy/document.ts";
import type { RunClaim } from "../../src/protocol/run/claim.ts";
import { FakeClock, MemoryJournal, policyOf } from "../fakes/fakes.ts";
import {
  ACME,
  ANN,
  ledgerThat,
  lenientPorts,
  passing,
  RUN_ID,
  drainPromises,
  type Closed,
} from "../fakes/runner-ports.ts";

const CLAIM: RunClaim = {
  runId: RUN_ID,
  principal: { tenantId: ACME, actorId: ANN, roles: [], scopes: [] },
  model: "m",
  messages: [{ role: "user", text: "hi" }],
};
const usage = { inputTokens: 8, outputTokens: 2 };
const asking = (step: number): ModelAnswer => ({
  text: "",
  finish: "tool_calls",
  toolCalls: [
    { toolCallId: `call_${step}` as ToolCallId, name: "t", argumentsText: "{}", truncated: false },
  ],
  usage,
});

interface Circumstances extends Partial<RunPorts> {
  readonly stop?: AbortController;
  readonly tenantBudgets?: object;
}

/** Runs a model that goes on for ever under these budgets. */
async function run(
  budgets: object,
  model: Model,
  { stop = new AbortController(), tenantBudgets = {}, ...replaced }: Circumstances = {},
) {
  const journal = new MemoryJournal();
  const clock = new FakeClock();
  const loaded = {
    policy: policyOf({ allowedTools: [], budgets, tenantBudgets }),
    pin: { revision: 1, hash: "sha256:1" },
  };
  const ports: RunPorts = {
    ...lenientPorts(),
    model,
    journal,
    clock,
    inbox: { hasSteering: false, takeAll: () => [], close: () => {} },
    policies: { load: async () => loaded, learn: () => {}, read: async () => loaded },
    source: { getBoundTool: () => undefined, listToolSpecs: () => [] },
    ...replaced,
    limitTime: (maxMs) => {
      clock.schedule(maxMs, () => stop.abort("time"));
    },
  };
  const startMs = clock.nowMs();
  const memory = newRunMemory(CLAIM.messages);
  const life = { claim: CLAIM, memory, startedAtMs: startMs, signal: stop.signal };
  await passing(runLoop(life, ports), clock);
  const elapsedMs = clock.nowMs() - startMs;
  return { done: journal.events.at(-1), elapsedMs, journal };
}

function insatiable(): { readonly model: Model; readonly calls: () => number } {
  let calls = 0;
  return {
    calls: () => calls,
    model: {
      async *stream() {
        yield [{ type: "answer", answer: asking(++calls) }];
      },
    },
  };
}

test("a run makes no model call once its tokens are used up", async () => {
  const { model, calls } = insatiable();
  // A call needs 100 for its request and 256 for its answer, and is billed as 10.
  const { done } = await run({ maxTokens: 385 }, model, { inputBound: () => 100 });
  expect(calls()).toBe(3);
  expect(done).toMatchObject({
    type: "done",
    reason: "error",
    error: { code: "budget_exhausted", message: expect.stringContaining("tokens") },
    usage: { inputTokens: 24, outputTokens: 6 },
  });
});

test("a run makes no model call once its conversation has grown too long", async () => {
  let calls = 0;
  const model: Model = {
    async *stream() {
      yield [{ type: "answer", answer: { ...asking(++calls), text: "x".repeat(1024 * 1024) } }];
    },
  };
  const { done } = await run({ maxSteps: 100 }, model);
  expect(calls).toBe(8);
  expect(done).toMatchObject({ reason: "error", error: { code: "conversation_too_long" } });
});

test("a run whose time is up is stopped in the middle of a model call", async () => {
  const model: Model = {
    async *stream(_request, signal) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      const failed: ModelAnswer = {
        text: "",
        toolCalls: [],
        finish: "error",
        failure: { code: "aborted", detail: "" },
      };
      yield [{ type: "answer", answer: failed }];
    },
  };
  const { done } = await run({ maxWallClockMs: 5_000 }, model);
  expect(done).toMatchObject({
    error: { code: "budget_exhausted", message: expect.stringContaining("time") },
  });
});

test("a run whose policy sets no time has a quarter of an hour", async () => {
  const model: Model = {
    async *stream(_request, signal) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      yield [{ type: "answer", answer: asking(1) }];
    },
  };
  const { done, elapsedMs } = await run({}, model);
  expect(done).toMatchObject({ error: { message: expect.stringContaining("time") } });
  expect(elapsedMs).toBe(15 * 60_000);
});

test("a run that is cancelled says so, whatever its time", async () => {
  const abort = new AbortController();
  const model: Model = {
    async *stream() {
      abort.abort("cancelled");
      yield [{ type: "answer", answer: asking(1) }];
    },
  };
  const { done } = await run({ maxWallClockMs: 5_000 }, model, { stop: abort });
  expect(done).toMatchObject({ type: "done", reason: "cancelled" });
});

test("a run that is cancelled before its first step asks no model", async () => {
  const abort = new AbortController();
  const { model, calls } = insatiable();
  const loaded = { policy: policyOf({ allowedTools: [] }) };
  const policies = {
    load: async () => (abort.abort("cancelled"), loaded),
    learn: () => {},
    read: async () => loaded,
  };
  const { done } = await run({}, model, { stop: abort, policies });
  expect([done, calls()]).toMatchObject([{ reason: "cancelled" }, 0]);
});

describe("tokens of the tenant", () => {
  /** A ledger that gives these answers, then reserves; what it was asked, and told afterwards. */
  function ledgerOf(...answers: ReservationAnswer[]) {
    const asked: Reservation[] = [];
    const closed: Closed[] = [];
    const ledger = ledgerThat(async (reservation) => {
      asked.push(reservation);
      return answers.shift() ?? { kind: "reserved" };
    }, closed);
    return { asked, closed, ledger };
  }
  const tenantBudgets = { maxTokens: 100_000 };

  test("are held before each model call, and make way for what it used", async () => {
    const { asked, closed, ledger } = ledgerOf();
    const { model } = insatiable();
    await run({ maxSteps: 2 }, model, { tenantBudgets, ledger });
    expect(asked.map(({ id }) => id)).toEqual(["run_1/model/1.0", "run_1/model/2.0"]);
    for (const { amounts, least, unsettled } of asked) {
      expect(amounts.tokens).toBe((least?.tokens ?? 0) + 4_096 - 256);
      expect(unsettled?.keeps).toEqual(amounts);
    }
    expect(closed).toEqual(asked.map(({ id }) => [id, { tokens: 10 }]));
  });

  test.each<[string, ReservationAnswer, string]>([
    ["are used up", { kind: "exhausted", budget: "tokens" }, "budget_exhausted"],
    ["cannot be asked for", { kind: "unavailable" }, "budget_unavailable"],
    ["have no policy any more", { kind: "policy_changed", pin: undefined }, "budget_unavailable"],
  ])("end the run before the model is called when they %s", async (_name, answer, code) => {
    const { ledger } = ledgerOf(answer);
    const { model, calls } = insatiable();
    const { done } = await run({}, model, { tenantBudgets, ledger });
    expect([calls(), done]).toEqual([0, expect.objectContaining({ reason: "error" })]);
    expect(done).toMatchObject({ error: { code } });
  });

  test("are asked for again under the policy that is current", async () => {
    const pin = { revision: 2, hash: "sha256:2" };
    const { asked, ledger } = ledgerOf({ kind: "policy_changed", pin });
    const { model, calls } = insatiable();
    await run({ maxSteps: 1 }, model, { tenantBudgets, ledger });
    expect([calls(), asked.length]).toEqual([1, 2]);
  });

  test("hold under the lower of the pinned limit and the current one", async () => {
    const pin = { revision: 2, hash: "sha256:2" };
    const { asked, ledger } = ledgerOf(
      { kind: "policy_changed", pin },
      { kind: "policy_changed", pin },
    );
    const limits = [500_000, 40_000];
    const pinned = { policy: policyOf({ allowedTools: [], tenantBudgets }) };
    const policies: PolicyStore = {
      load: async () => ({ ...pinned, pin: { revision: 1, hash: "sha256:1" } }),
      learn: () => {},
      read: async () => {
        const maxTokens = limits.shift() ?? 0;
        return { policy: policyOf({ allowedTools: [], tenantBudgets: { maxTokens } }), pin };
      },
    };
    await run({}, insatiable().model, { ledger, policies });
    const reservations = asked.map(({ limits: { tokens } }) => tokens);
    expect(reservations.slice(0, 3)).toEqual([100_000, 100_000, 40_000]);
  });

  test("end the run when the policy that is current cannot be read", async () => {
    const pin = { revision: 2, hash: "sha256:2" };
    const { ledger } = ledgerOf({ kind: "policy_changed", pin });
    const { model, calls } = insatiable();
    const limited = policyOf({ allowedTools: [], tenantBudgets });
    const policies: PolicyStore = {
      load: async () => ({ policy: limited, pin: { revision: 1, hash: "sha256:1" } }),
      learn: () => {},
      read: async () => ({ policy: DENY_ALL, deniedBecause: "unreadable" }),
    };
    const { done } = await run({}, model, { ledger, policies });
    expect(calls()).toBe(0);
    expect(done).toMatchObject({ error: { code: "budget_unavailable" } });
  });

  test("end the run when the policy does not come to rest", async () => {
    const pin = { revision: 2, hash: "sha256:2" };
    const restless = Array.from({ length: 50 }, () => ({ kind: "policy_changed" as const, pin }));
    const { asked, ledger } = ledgerOf(...restless);
    const { model, calls } = insatiable();
    const { done } = await run({}, model, { tenantBudgets, ledger });
    expect([calls(), asked.length]).toEqual([0, 4]);
    expect(done).toMatchObject({ error: { code: "budget_unavailable" } });
  });

  test("cost no hop where policy does not limit them", async () => {
    const { asked, ledger } = ledgerOf();
    await run({ maxSteps: 2 }, insatiable().model, { ledger });
    expect(asked).toEqual([]);
  });
});

describe("what a model call may use", () => {
  const inputBound = (): number => 100;

  /** A model that answers in answer, and what it was asked for. */
  function modelOf(...answers: Partial<ModelAnswer>[]) {
    const asked: (number | undefined)[] = [];
    const model: Model = {
      async *stream({ maxOutputTokens }) {
        asked.push(maxOutputTokens);
        const answer = answers.shift() ?? { finish: "stop", toolCalls: [] };
        yield [{ type: "answer", answer: { ...asking(asked.length), ...answer } }];
      },
    };
    return { model, asked };
  }
  const failing = (code: "upstream_status" | "upstream_truncated"): Partial<ModelAnswer> => ({
    finish: "error",
    toolCalls: [],
    failure: { code, detail: "", ...(code === "upstream_status" && { status: 503 }) },
    usage: undefined as never,
  });
  const untold = { usage: undefined as never };

  test("is what is left, down to an answer that is of use", async () => {
    const { model, asked } = modelOf({ usage: { inputTokens: 90, outputTokens: 400 } });
    const { done } = await run({ maxTokens: 1_000 }, model, { inputBound });
    expect(asked).toEqual([900, 410]);
    expect(done).toMatchObject({ reason: "stop" });
    const most = modelOf();
    await run({ maxTokens: 100_000, maxOutputTokens: 50 }, most.model, { inputBound });
    expect(most.asked).toEqual([50]);
    const none = modelOf();
    await run({ maxTokens: 355 }, none.model, { inputBound });
    expect(none.asked).toEqual([]);
  });

  test("is what the tenant has granted", async () => {
    const { model, asked } = modelOf();
    const ledger = ledgerThat(async () => ({ kind: "reserved", granted: { tokens: 440 } }));
    const tenantBudgets = { maxTokens: 1_000 };
    await run({}, model, { inputBound, ledger, tenantBudgets });
    expect(asked).toEqual([340]);
  });

  // Mutant: what nobody tells is nothing.
  test("is used up when the provider tells nothing, or the answer breaks off", async () => {
    const told = modelOf(untold);
    await run({ maxTokens: 1_000, maxOutputTokens: 500 }, told.model, { inputBound });
    expect(told.asked).toEqual([500, 300]);
    const broken = modelOf(failing("upstream_truncated"));
    await run({ maxTokens: 1_000, maxOutputTokens: 500 }, broken.model, { inputBound });
    expect(broken.asked).toEqual([500, 300]);
    const zero = modelOf({ usage: { inputTokens: 0, outputTokens: 0 } });
    await run({ maxTokens: 1_000, maxOutputTokens: 500 }, zero.model, { inputBound });
    expect(zero.asked).toEqual([500, 300]);
  });

  test("is given back when the provider refuses, under an id that no other attempt has", async () => {
    const { model, asked } = modelOf(failing("upstream_status"), failing("upstream_status"));
    const closed: Closed[] = [];
    const ids: string[] = [];
    const ledger = ledgerThat(async ({ id }) => (ids.push(id), { kind: "reserved" }), closed);
    const tenantBudgets = { maxTokens: 10_000 };
    await run({ maxTokens: 700, maxOutputTokens: 600 }, model, {
      inputBound,
      ledger,
      tenantBudgets,
    });
    expect(asked).toEqual([600, 600, 600]);
    expect(ids).toEqual(["run_1/model/1.0", "run_1/model/1.1", "run_1/model/1.2"]);
    expect(closed).toEqual([
      ["run_1/model/1.0", "released"],
      ["run_1/model/1.1", "released"],
      ["run_1/model/1.2", { tokens: 10 }],
    ]);
  });

  test("may be too little for another attempt; then the run ends with what the provider said", async () => {
    const { model, asked } = modelOf(failing("upstream_truncated"));
    const { done } = await run({ maxTokens: 700, maxOutputTokens: 400 }, model, { inputBound });
    expect(asked).toEqual([400]);
    expect(done).toMatchObject({ error: { code: "upstream_truncated" } });
  });

  test("is given back when the run is stopped before it is asked", async () => {
    const stop = new AbortController();
    const closed: Closed[] = [];
    const { model, asked } = modelOf();
    const ledger = ledgerThat(async () => (stop.abort("cancelled"), { kind: "reserved" }), closed);
    const { done } = await run({}, model, { stop, ledger, tenantBudgets: { maxTokens: 9_000 } });
    expect([asked, done]).toMatchObject([[], { reason: "cancelled" }]);
    expect(closed).toEqual([["run_1/model/1.0", "released"]]);
  });

  // Mutant: the run has ended while it still has something to tell.
  test("is told the tenant before the run has ended", async () => {
    const told: string[] = [];
    let tell = (): void => {};
    const ledger = {
      ...ledgerThat(async () => ({ kind: "reserved" })),
      settle: () => new Promise<void>((resolve) => (tell = resolve)),
    };
    const { model } = modelOf({ finish: "stop", toolCalls: [] });
    const ended = run({}, model, { ledger, tenantBudgets: { maxTokens: 9_000 } }).then(() =>
      told.push("ended"),
    );
    await drainPromises();
    told.push("heard");
    tell();
    await ended;
    expect(told).toEqual(["heard", "ended"]);
  });

  test("is stored before the model is asked, and what it used together with what it said", async () => {
    const seen: unknown[] = [];
    const { model, asked } = modelOf();
    const journal = new MemoryJournal();
    const looking: Model = {
      async *stream(request, signal) {
        seen.push(journal.facts.tokens, journal.facts.reservation);
        yield* model.stream(request, signal);
      },
    };
    await run({ maxTokens: 1_000, maxOutputTokens: 500 }, looking, { inputBound, journal });
    const id = "run_1/model/1.0";
    expect(seen).toEqual([600, { id, modelCall: 1, tokens: 600, maxOutputTokens: 500 }]);
    expect([asked, journal.facts.tokens]).toEqual([[500], 10]);
  });
});

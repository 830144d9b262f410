import { describe, expect, test } from "vitest";
import type { Reservation, ReservationAnswer } from "../../src/capabilities/budget.ts";
import type { PolicyStore } from "../../src/capabilities/policy.ts";
import type { Model } from "../../src/capabilities/model.ts";
import type { ModelAnswer } from "../../src/protocol/model/event.ts";
import { denyAll } from "../../src/protocol/policy/document.ts";
import { policyOf } from "../../src/testing/fakes/fakes.ts";
import { ledgerThat, type Closed } from "../../src/testing/fakes/runner-ports.ts";
import { asking, run, insatiable } from "./budgeted-run.ts";

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

test("a cancelled run ends as cancelled, even past its time limit", async () => {
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
      read: async () => ({ policy: denyAll(), deniedBecause: "unreadable" }),
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

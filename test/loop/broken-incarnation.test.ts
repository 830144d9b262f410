import { expect, test } from "vitest";
import type { Model } from "../../src/capabilities/model.ts";
import type { PolicyStore } from "../../src/capabilities/policy.ts";
import { registerContracts } from "../../src/contracts/check/register.ts";
import { bindTools } from "../../src/contracts/bind/tool-source.ts";
import type { RunPorts } from "../../src/loop/run-scope.ts";
import type { RunClaim } from "../../src/protocol/run/claim.ts";
import type { StopReason } from "../../src/protocol/run/facts.ts";
import { NO_USAGE } from "../../src/protocol/model/usage.ts";
import type { ToolInvocationRecord } from "../../src/protocol/invocation/record.ts";
import { denyAll } from "../../src/protocol/policy/document.ts";
import { fakeRunCapabilities, policyOf, sourceOf } from "../../src/testing/fakes/fakes.ts";
import {
  ACME,
  ANN,
  lenientPorts,
  RUN_ID,
  ledgerThat,
  type Closed,
} from "../../src/testing/fakes/runner-ports.ts";
import { noteTool } from "../shared/tools.ts";
import { live, Storage } from "./incarnations.ts";

const CLAIM: RunClaim = {
  runId: RUN_ID,
  principal: { tenantId: ACME, actorId: ANN, roles: [], scopes: [] },
  model: "m",
  messages: [{ role: "user", text: "hi" }],
};
const PIN = { revision: 1, hash: "sha256:1" };
const NAME = "test__note";
const loaded = { policy: policyOf({ allowedTools: [NAME] }), pin: PIN };
const steady: PolicyStore = { load: async () => loaded, learn: () => {}, read: async () => loaded };
const broken: PolicyStore = {
  ...steady,
  load: () => Promise.reject(new Error("s3cret")),
  read: () => Promise.reject(new Error("s3cret")),
};

/** Goes on with what is stored; answers how often the model and the tool were asked. */
async function goOn(storage: Storage, more: Partial<RunPorts> = {}, stop?: StopReason) {
  const { tool, reached } = noteTool();
  let modelCalls = 0;
  const model: Model = {
    async *stream() {
      modelCalls++;
      yield [
        { type: "answer", answer: { text: "ok", toolCalls: [], finish: "stop", usage: NO_USAGE } },
      ];
    },
  };
  const { how } = await live({
    claim: CLAIM,
    storage,
    ...(stop && { stop: { afterWrites: 0, reason: stop } }),
    ports: (journal, clock) => ({
      ...lenientPorts(),
      model,
      journal,
      clock,
      inbox: { hasSteering: false, takeAll: () => [], close: () => {} },
      policies: steady,
      source: sourceOf(bindTools(registerContracts([tool]), { ...fakeRunCapabilities(), clock })),
      ...more,
    }),
  });
  return { how, modelCalls, reached, done: storage.events.at(-1) };
}

/** A run in whose first step the model has begun to speak. */
function halfSaid(): Storage {
  const storage = new Storage();
  storage.facts = { modelCalls: 1, pin: PIN, answer: undefined };
  storage.events.push(
    { type: "run_started", runId: RUN_ID, model: "m" },
    { type: "step_started", step: 1, messageId: "m1" },
    { type: "text_started", part: 0 },
    { type: "text_delta", part: 0, text: "half" },
  );
  return storage;
}

const RECORD: ToolInvocationRecord = {
  number: 1,
  toolCallId: "a" as never,
  step: 1,
  part: 0,
  name: NAME,
  argumentsText: '{"text":"hi"}',
  truncated: false,
  state: "PENDING",
  dispatches: 1,
  askedAtMs: 1,
  binding: {
    version: "1.0.0",
    payloadHash: "sha256:p",
    idempotencyKey: "key",
    mutates: true,
    dataClass: "internal" as const,
    owner: "test",
    shownArgs: { text: "hi" },
  },
};

/** A run in whose first step one call was asked for. */
function asked(change: Partial<ToolInvocationRecord> = {}): Storage {
  const storage = new Storage();
  const answer = { step: 1, modelCall: 1, finish: "tool_calls", usage: NO_USAGE } as const;
  storage.facts = { modelCalls: 1, pin: PIN, answer };
  storage.events.push(
    { type: "run_started", runId: RUN_ID, model: "m" },
    { type: "step_started", step: 1, messageId: "m1" },
    { type: "tool_call_proposed", part: 0, toolCallId: RECORD.toolCallId, toolName: NAME },
  );
  const { toolCallId, name, argumentsText } = RECORD;
  storage.messages.push({
    role: "assistant",
    text: "",
    toolCalls: [{ toolCallId, name, argumentsText }],
  });
  storage.records.set(1, { ...RECORD, ...change });
  return storage;
}

test("an incarnation that fails at once closes and withdraws the half answer", async () => {
  const storage = halfSaid();
  const { how, done } = await goOn(storage, { policies: broken });
  expect(how).toBe("ended");
  expect(storage.events.slice(4)).toEqual([
    { type: "text_finished", part: 0 },
    { type: "text_withdrawn", parts: [0] },
    done,
  ]);
  const error = { code: "internal_error", errorId: "err_1" };
  expect(done).toMatchObject({ type: "done", reason: "error", error });
});

/** What keeps an incarnation from beginning, and the code with which its run then ends. */
const BREAKS: readonly (readonly [Partial<RunPorts>, string])[] = [
  [{ policies: broken }, "internal_error"],
  [{ source: { load: () => Promise.reject(new Error("s3cret")) } }, "tools_unavailable"],
  [{ source: { load: () => new Promise(() => {}) } }, "tools_unavailable"],
];

test.each([
  ["a write that was begun", {}, "EXPIRED"],
  ["a write that did not happen", { state: "FAILED_RETRYABLE" }, "FAILED_FINAL"],
  ["a write that was not begun", { dispatches: 0 }, "FAILED_FINAL"],
  ["a read", { binding: { ...RECORD.binding, mutates: false } }, "FAILED_FINAL"],
  [
    "a write known to have happened",
    { resolution: { outcome: "committed", atMs: 1 } },
    "COMPLETED",
  ],
  [
    "a write known not to have happened",
    { resolution: { outcome: "not_committed", atMs: 1 } },
    "FAILED_RETRYABLE",
  ],
  ["a write of which nobody told", { resolution: { outcome: "expired", atMs: 1 } }, "EXPIRED"],
] as readonly [string, object, string][])(
  "a incarnation that breaks at once ends %s as what is known of it, and answers it",
  async (_name, change, state) => {
    for (const [ports, code] of BREAKS) {
      const storage = asked(change);
      const { how, modelCalls, reached } = await goOn(storage, ports);
      expect([how, modelCalls, reached]).toEqual(["ended", 0, []]);
      const record = storage.records.get(1);
      expect(record?.state).toBe(state);
      const { observation } = record?.end ?? {};
      expect(storage.events.slice(3)).toMatchObject([
        { type: "tool_call_result", part: 0, observation },
        { type: "done", error: { code } },
      ]);
      expect(storage.messages.slice(1)).toEqual([
        {
          role: "tool",
          toolCallId: "a",
          name: NAME,
          result: observation,
          // A model is told what follows a failure alone.
          ...(observation?.status.is_error && {
            feedback: {
              validation_status: record?.dispatches === 0 ? "failed" : "passed",
              next_action: record?.end?.response.next_action,
            },
          }),
          dataClasses: record?.binding && ["internal"],
        },
      ]);
    }
  },
);

test("an incarnation that fails answers a call that had ended, once", async () => {
  const storage = asked();
  await goOn(storage, {}, "cancelled");
  const [, answer] = storage.messages;
  for (const messages of [storage.messages.slice(0, 1), storage.messages.slice(0, 2)]) {
    const again = new Storage();
    again.messages.push(...messages);
    again.records.set(1, storage.records.get(1) as ToolInvocationRecord);
    again.facts = storage.facts;
    again.events.push(...storage.events.slice(0, 4));
    await goOn(again, { policies: broken });
    expect(again.messages.slice(1)).toEqual([answer]);
    expect(again.events.slice(4).map(({ type }) => type)).toEqual(["done"]);
  }
});

const lost: PolicyStore = {
  ...steady,
  read: async () => ({ policy: denyAll(), deniedBecause: "unreadable" }),
};

test("a run whose policy cannot be read any more asks no model", async () => {
  const storage = halfSaid();
  const { modelCalls, done } = await goOn(storage, { policies: lost });
  expect(modelCalls).toBe(0);
  expect(done).toMatchObject({ reason: "error", error: { code: "policy_unavailable" } });
  const other = asked({ dispatches: 0 });
  const { modelCalls: calls, reached } = await goOn(other, { policies: lost });
  expect([calls, reached]).toEqual([0, []]);
  expect(other.records.get(1)?.end?.observation.status.taxonomy_class).toBe("POLICY_VIOLATION");
});

test("a run continues under the policy that it recorded, whatever is current", async () => {
  const pins: unknown[] = [];
  const policies: PolicyStore = {
    ...steady,
    load: () => Promise.reject(new Error("not asked")),
    read: async (_tenant, pin) => (pins.push(pin), loaded),
  };
  const { done } = await goOn(halfSaid(), { policies });
  expect(done).toMatchObject({ reason: "stop" });
  expect(pins).toEqual([PIN]);
});

test("a run records its policy, its model calls and its last answer", async () => {
  const storage = new Storage();
  const { done } = await goOn(storage);
  expect(done).toMatchObject({ reason: "stop" });
  expect(storage.facts).toMatchObject({
    modelCalls: expect.any(Number),
    pin: PIN,
    answer: { step: 1, finish: "stop" },
  });
});

test("a step that could not be taken up again is not mistaken for the one before it", async () => {
  const storage = asked({ dispatches: 0 });
  storage.events.push(
    { type: "step_finished", step: 1, finish: "tool_calls", usage: NO_USAGE, continued: true },
    { type: "step_started", step: 2, messageId: "m2" },
    { type: "step_finished", step: 2, finish: "error", usage: NO_USAGE, continued: false },
  );
  const { done, modelCalls } = await goOn(storage, { policies: lost });
  expect(modelCalls).toBe(0);
  expect(done).toMatchObject({ reason: "error", error: { code: "policy_unavailable" } });
});

/** The same run once its step has finished. */
function finished(storage: Storage, continued: boolean): Storage {
  const usage = { inputTokens: 40, outputTokens: 10 };
  storage.events.push({ type: "step_finished", step: 1, finish: "tool_calls", usage, continued });
  return storage;
}

const under = (budgets: object): PolicyStore => ({
  ...steady,
  read: async () => ({ policy: policyOf({ allowedTools: [NAME], budgets }), pin: PIN }),
});

test("tokens that earlier incarnations used count against the run", async () => {
  const storage = finished(asked({ state: "FAILED_FINAL", end: {} as never }), true);
  const { modelCalls, done } = await goOn(storage, { policies: under({ maxTokens: 50 }) });
  expect([modelCalls, done]).toMatchObject([0, { error: { code: "budget_exhausted" } }]);
});

const HELD = { id: "run_1/model/1.0", modelCall: 1, tokens: 600, maxOutputTokens: 500 };

test("what was held for a model call that was cut short stays counted", async () => {
  const storage = halfSaid();
  storage.facts = { ...storage.facts, tokens: 600, reservation: HELD };
  const budgets = { policies: under({ maxTokens: 900 }), inputBound: () => 100 };
  const { modelCalls, done } = await goOn(storage, budgets);
  expect([modelCalls, done]).toMatchObject([0, { error: { code: "budget_exhausted" } }]);
});

test("the next incarnation reports a model call's usage to the tenant when the last one could not", async () => {
  const storage = asked({ dispatches: 0 });
  const usage = { inputTokens: 9, outputTokens: 3 };
  const answer = { step: 1, modelCall: 1, finish: "tool_calls", usage } as const;
  storage.facts = { ...storage.facts, answer, tokens: 600, reservation: HELD };
  const closed: Closed[] = [];
  const policy = policyOf({ allowedTools: [NAME], tenantBudgets: { maxTokens: 9_000 } });
  await goOn(storage, {
    policies: { ...steady, read: async () => ({ policy, pin: PIN }) },
    ledger: ledgerThat(async () => ({ kind: "reserved" }), closed),
  });
  expect(closed[0]).toEqual([HELD.id, { tokens: 12 }]);
});

test("calls of earlier incarnations count against the run's budgets", async () => {
  const storage = asked({ dispatches: 0 });
  const { binding: _none, ...fresh } = RECORD;
  const other = { ...fresh, dispatches: 1, number: 2, step: 7, toolCallId: "z" as never };
  storage.records.set(2, { ...other, amounts: { writes: 1 }, end: {} as never });
  const { reached } = await goOn(storage, { policies: under({ maxWrites: 1 }) });
  expect(reached).toEqual([]);
  const outcome = storage.records.get(1)?.end?.observation.status.taxonomy_class;
  expect(outcome).toBe("BUDGET_EXHAUSTED");
});

test("a run that was cut off before it reported an unknown outcome reports it", async () => {
  const storage = finished(asked({ state: "EXPIRED", end: {} as never }), false);
  const { modelCalls, done } = await goOn(storage);
  expect([modelCalls, done]).toMatchObject([0, { error: { code: "outcome_unknown" } }]);
});

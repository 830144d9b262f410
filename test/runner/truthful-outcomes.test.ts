import { describe, expect, test } from "vitest";
import type { ToolHook, ToolSourcePort } from "../../src/capabilities/tool.ts";
import { registerContracts } from "../../src/contracts/register.ts";
import { createToolSource } from "../../src/contracts/tool-source.ts";
import { fail, ok } from "../../src/protocol/outcome/result.ts";
import { fakeRunCapabilities } from "../fakes/fakes.ts";
import { benchFor, endOf, passing, drainPromises, ledgerThat } from "../fakes/runner-ports.ts";
import { AS_READ, noteTool, readTool } from "../shared/tools.ts";

const down = (retryAfterMs?: number) =>
  fail({
    taxonomyClass: "DEPENDENCY_UNAVAILABLE" as const,
    errors: [{ field: null, code: "down", message: "it is down" }],
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
const never = (): Promise<never> => new Promise(() => {});
const veto = { code: "frozen", message: "no changes on Fridays" };
const twice = { idempotency: { supported: true }, runtime: { maxRetries: 1 } };

describe("what an author breaks before the tool runs is no effect in doubt", () => {
  test.each([
    [
      "a rule that throws",
      {
        rules: [
          {
            code: "r",
            message: "m",
            holds: () => {
              throw new Error("s3cret");
            },
          },
        ],
      },
      ["UNKNOWN_ERROR", "tool_failed"],
      "stop_call",
    ],
    [
      "a rule that promises an answer",
      { rules: [{ code: "later", message: "m", holds: () => Promise.resolve(true) }] },
      ["SEMANTIC_INVALIDITY", "later"],
      "ask_or_replan",
    ],
    [
      "a state check that answers nothing",
      { checkState: () => undefined },
      ["UNKNOWN_ERROR", "tool_failed"],
      "stop_call",
    ],
  ])("%s", async (_name, change, end, next) => {
    const { tool, reached } = noteTool(change);
    const { call, journal } = benchFor([tool]);
    const result = await call("test__note", { text: "hi" });
    expect(endOf(result)).toEqual(end);
    expect(result.response).toMatchObject({ next_action: next, escalate: false });
    expect(reached).toEqual([]);
    expect(journal.events.map(({ type }) => type)).toEqual(["tool_call_result"]);
    expect(JSON.stringify(result)).not.toContain("s3cret");
  });

  test("a ledger that breaks its word, which also ends the invocation", async () => {
    let signal: AbortSignal | undefined;
    const { tool, reached } = noteTool({
      checkState: (_args: unknown, _context: unknown, granted: { signal: AbortSignal }) => {
        ({ signal } = granted);
        return ok(null);
      },
    });
    const ledger = ledgerThat(() => Promise.reject(new Error("s3cret")));
    const result = await benchFor([tool], { ledger }).call("test__note", { text: "hi" });
    expect(endOf(result)).toEqual(["UNKNOWN_ERROR", "tool_failed"]);
    expect(result.response.escalate).toBe(false);
    expect(reached).toEqual([]);
    expect(signal?.aborted).toBe(true);
  });
});

/** A source whose tool is changed once it is bound. */
function sourceOf(tool: unknown, change: object): ToolSourcePort {
  const source = createToolSource(registerContracts([tool as never]), fakeRunCapabilities());
  return {
    listToolSpecs: () => source.listToolSpecs(),
    getBoundTool: (id, version) => {
      const bound = source.getBoundTool(id, version);
      return bound && { ...bound, ...change };
    },
  };
}

test.each(["validateOutput", "redactOutput"])(
  "an output on which %s breaks says that the tool ran",
  async (broken) => {
    const { tool } = noteTool();
    const source = sourceOf(tool, {
      [broken]: () => {
        throw new Error("s3cret");
      },
    });
    const result = await benchFor([tool], { source }).call("test__note", { text: "hi" });
    expect(endOf(result)).toEqual(["OBSERVATION_NORMALIZATION_FAIL", "invalid_output"]);
    expect(result.observation.result_payload.errors[0]?.message).toContain("the tool ran");
  },
);

test.each(["SUCCESS", "MADE_UP", "toString"])(
  "a failure of the class %s, which is none, is an unknown error",
  async (taxonomyClass) => {
    const errors = [{ field: null, code: "odd", message: "odd" }];
    const { tool } = noteTool({ ...AS_READ, execute: () => fail({ taxonomyClass, errors }) });
    const { call, journal } = benchFor([tool]);
    expect(endOf(await call("test__note", { text: "hi" }))).toEqual(["UNKNOWN_ERROR", "odd"]);
    expect(journal.records.length).toBe(1);
  },
);

test("a number that is not finite is the model's to mend, wherever it stands", async () => {
  const { tool, reached } = noteTool();
  const { call } = benchFor([tool]);
  for (const text of ['{"text":"hi","amount":1e999}', '{"text":[{"x":-1e999}]}']) {
    const result = await call("test__note", text);
    expect(endOf(result)).toEqual(["OUT_OF_BOUNDS", "number_too_large"]);
    expect(result.response.next_action).toBe("repair_arguments");
  }
  expect(reached).toEqual([]);
});

describe("an effect that an earlier attempt may have had", () => {
  test("is not forgotten when the next attempt is refused", async () => {
    let asked = 0;
    const { tool } = noteTool({
      ...twice,
      requiresConnection: true,
      capabilities: ["auth"],
      execute: () => down(),
    });
    const { ask, clock, journal } = benchFor([tool], {
      policy: {
        allowedTools: ["test__note"],
        grants: [{ connectionId: "mail", tools: ["test__note"] }],
      },
      connectionIds: ["mail"] as never,
      broker: { bind: () => Promise.resolve(ok({}) as never) },
      authorizationOf: () => ({ check: async () => (++asked > 2 ? "no_permission" : "allow") }),
    });
    expect(await passing(ask("test__note", { text: "hi" }), clock)).toBe("waiting");
    expect(asked).toBe(3);
    expect(journal.records).toMatchObject([{ state: "PENDING", dispatches: 1 }]);
    expect(journal.events.filter(({ type }) => type === "tool_call_start").length).toBe(1);
  });

  test("is no matter when the next attempt tells, or when nothing changes", async () => {
    const answers = [() => down(), () => ok({ text: "up" })];
    const { tool } = noteTool({ ...twice, execute: () => answers.shift()?.() });
    const { call, clock } = benchFor([tool]);
    expect((await passing(call("test__note", { text: "hi" }), clock)).state).toBe("COMPLETED");
    let asked = 0;
    const { tool: read } = readTool([() => down()]);
    const other = benchFor([read], {
      authorizationOf: () => ({ check: async () => (++asked > 1 ? "no_permission" : "allow") }),
    });
    const second = await passing(other.call("test__read", {}), other.clock);
    expect(endOf(second)[0]).toBe("PERMISSION_DENIED");
  });
});

describe("what happens while a call waits for its next attempt", () => {
  const inbox = { hasSteering: false };

  test("the user speaks: a call that never began is skipped", async () => {
    const { tool, reached } = noteTool({ runtime: { maxRetries: 1 } });
    const mail = { ...inbox };
    const { call, clock, journal } = benchFor([tool], {
      inbox: mail,
      ledgerAnswers: [{ kind: "rate_limited", retryAfterMs: 9_000 }],
    });
    const pending = call("test__note", { text: "hi" });
    await drainPromises();
    mail.hasSteering = true;
    const result = await passing(pending, clock);
    expect(endOf(result)).toEqual(["STALE_STATE", "skipped"]);
    expect(result.observation.execution_metadata.attempt_number).toBe(1);
    expect(reached).toEqual([]);
    expect(journal.events.map(({ type }) => type)).toEqual(["tool_call_result"]);
  });

  test("the user speaks: a call that began goes on", async () => {
    const mail = { ...inbox };
    const { tool, keys } = readTool([() => down(), () => ok({ text: "up" })]);
    const { call, clock } = benchFor([tool], { inbox: mail });
    const pending = call("test__read", {});
    await drainPromises();
    mail.hasSteering = true;
    expect((await passing(pending, clock)).ok).toBe(true);
    expect(keys.length).toBe(2);
  });

  test("its tool is withdrawn: the call ends with what it came to", async () => {
    const { tool, keys } = readTool([() => down(20_000)]);
    const { call, clock, runner } = benchFor([tool]);
    const pending = call("test__read", {}, { step: 1, id: "a" });
    await drainPromises();
    await call("test__read", { id: 7 }, { step: 2, id: "b" });
    await call("test__read", { id: 7 }, { step: 3, id: "c" });
    expect(runner.isWithdrawn("test__read")).toBe(true);
    const result = await passing(pending, clock);
    expect(endOf(result)).toEqual(["DEPENDENCY_UNAVAILABLE", "down"]);
    expect(keys.length).toBe(1);
  });
});

test("the user who speaks while a gate takes its time skips the call", async () => {
  const inbox = { hasSteering: false };
  const { tool, reached } = noteTool({
    checkState: () => {
      inbox.hasSteering = true;
      return ok(null);
    },
  });
  const { call, reservations } = benchFor([tool], { inbox });
  expect(endOf(await call("test__note", { text: "hi" }))).toEqual(["STALE_STATE", "skipped"]);
  expect([reached.length, reservations.length]).toEqual([0, 0]);
});

describe("a run that is cancelled while a call is at", () => {
  const abort = () => new AbortController();

  test("its state check, ends it and takes its capabilities back", async () => {
    const { signal, abort: cancel } = withCancel(abort());
    let granted: AbortSignal | undefined;
    const { tool, reached } = noteTool({
      checkState: (_args: unknown, _context: unknown, given: { signal: AbortSignal }) => {
        granted = given.signal;
        return never();
      },
    });
    const { call, clock } = benchFor([tool]);
    const pending = call("test__note", { text: "hi" }, { signal });
    await drainPromises();
    cancel();
    expect(endOf(await pending)).toEqual(["UNKNOWN_ERROR", "cancelled"]);
    expect(granted?.aborted).toBe(true);
    expect([reached.length, clock.waiting]).toEqual([0, 0]);
  });

  test.each(["broker", "ledger", "hook"] as const)("the %s, ends it unbegun", async (place) => {
    const { signal, abort: cancel } = withCancel(abort());
    const at = <T>(here: string, answer: T) => {
      if (here === place) cancel();
      return Promise.resolve(answer);
    };
    const { tool, reached } = noteTool({
      requiresConnection: true,
      capabilities: ["auth"],
      checkState: () => (place === "broker" ? never() : ok(null)),
    });
    const { call, journal, clock } = benchFor([tool], {
      policy: {
        allowedTools: ["test__note"],
        grants: [{ connectionId: "mail", tools: ["test__note"] }],
      },
      connectionIds: ["mail"] as never,
      broker: { bind: () => at("broker", ok({}) as never) },
      ledger: ledgerThat(() => at("ledger", { kind: "reserved" })),
      hooks: [{ before: () => (place === "hook" ? (cancel(), never()) : at("", undefined)) }],
    });
    const result = await call("test__note", { text: "hi" }, { signal });
    expect(endOf(result)).toEqual(["UNKNOWN_ERROR", "cancelled"]);
    expect(result.response.escalate).toBe(false);
    expect(reached).toEqual([]);
    expect(journal.events.map(({ type }) => type)).toEqual(["tool_call_result"]);
    expect(clock.waiting).toBe(0);
  });
});

test("a call that ended has left no listener on the run's signal", async () => {
  const { tool } = readTool([() => down(), () => ok({ text: "up" })]);
  const { signal } = new AbortController();
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args));
  signal.removeEventListener = (...args: Parameters<typeof add>) => (listeners--, remove(...args));
  const { call, clock } = benchFor([tool]);
  expect((await passing(call("test__read", {}, { signal }), clock)).ok).toBe(true);
  expect([listeners, clock.waiting]).toEqual([0, 0]);
});

test.each([
  [50, 20, 20],
  [20, 50, 20],
])("a tool of %i ms has under a policy of %i ms the shorter time", async (own, policys, ms) => {
  const { tool } = noteTool({
    ...AS_READ,
    execute: never,
    runtime: { timeoutMs: own, maxRetries: 0 },
  });
  const policy = { allowedTools: ["test__note"], budgets: { maxRuntimeMs: policys } };
  const { call, clock } = benchFor([tool], { policy });
  const { observation } = await passing(call("test__note", { text: "hi" }), clock, 1);
  expect(observation.status.taxonomy_class).toBe("TIMEOUT");
  expect(observation.execution_metadata.latency_ms).toBe(ms);
});

test.each([
  ["unknown_connection", "PERMISSION_DENIED", false],
  ["unreadable_connection", "DEPENDENCY_UNAVAILABLE", true],
] as const)(
  "a broker that answers %s ends a call that did not begin",
  async (code, end, retryable) => {
    const { tool, reached } = noteTool({ requiresConnection: true, capabilities: ["auth"] });
    const { call } = benchFor([tool], {
      policy: {
        allowedTools: ["test__note"],
        grants: [{ connectionId: "mail", tools: ["test__note"] }],
      },
      connectionIds: ["mail"] as never,
      broker: { bind: () => Promise.resolve(fail({ code })) },
    });
    const result = await call("test__note", { text: "hi" });
    expect(endOf(result)).toEqual([end, code]);
    expect(result.response).toMatchObject({ retryable, escalate: false });
    expect(reached).toEqual([]);
  },
);

function withCancel(controller: AbortController) {
  return { signal: controller.signal, abort: () => controller.abort() };
}

describe("hooks", () => {
  test.each<[string, ToolHook, number]>([
    ["before", { before: never }, 0],
    ["after", { after: never }, 1],
  ])("that never answer have vetoed: %s", async (_name, hook, ran) => {
    const { tool, reached } = noteTool();
    const { call, clock } = benchFor([tool], { hooks: [hook] });
    const result = await passing(call("test__note", { text: "hi" }), clock);
    expect(endOf(result)).toEqual(["POLICY_VIOLATION", "hook_failed"]);
    expect(result.observation.execution_metadata.latency_ms).toBe(5_000);
    expect([reached.length, clock.waiting]).toEqual([ran, 0]);
  });

  test("withhold the words of a failure, and not what may follow of it", async () => {
    const { tool } = noteTool({ ...AS_READ, execute: never });
    const hook: ToolHook = { after: () => Promise.resolve(veto) };
    const { call, clock } = benchFor([tool], { hooks: [hook] });
    const result = await passing(call("test__note", { text: "hi" }), clock);
    expect(endOf(result)).toEqual(["TIMEOUT", "frozen"]);
    expect(result.response).toMatchObject({ retryable: true, next_action: "retry_later" });
  });

  test("see the outcome of a tool that was cancelled", async () => {
    const { signal, abort } = withCancel(new AbortController());
    const { tool } = noteTool({ ...AS_READ, execute: () => (abort(), never()) });
    const seen: unknown[] = [];
    const hook: ToolHook = {
      after: async (_call, { status }) => {
        seen.push(status.taxonomy_class);
        return undefined;
      },
    };
    const { call } = benchFor([tool], { hooks: [hook] });
    const result = await call("test__note", { text: "hi" }, { signal });
    expect(endOf(result)).toEqual(["UNKNOWN_ERROR", "cancelled"]);
    expect(seen).toEqual(["UNKNOWN_ERROR"]);
  });
});

test("the time of a call begins with its turn", async () => {
  const { tool } = noteTool({ execute: () => new Promise((resolve) => open.push(resolve)) });
  const open: ((value: unknown) => void)[] = [];
  const { call, clock } = benchFor([tool]);
  const calls = [call("test__note", { text: "a" }), call("test__note", { text: "b" })];
  await drainPromises();
  clock.advance(700);
  open[0]?.(ok({ text: "a" }));
  await drainPromises();
  clock.advance(40);
  open[1]?.(ok({ text: "b" }));
  const results = await Promise.all(calls);
  const latencies = results.map(({ observation }) => observation.execution_metadata.latency_ms);
  expect(latencies).toEqual([700, 40]);
});

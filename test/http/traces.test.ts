import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { otlpTraces } from "../../src/otlp-traces.ts";
import { RECEIVER } from "../fakes/webhook-receiver.ts";
import { answerSpans, namedTo, sentOf, spansOf } from "../shared/collected.ts";
import budgets from "../durable-objects/run-costs.json";
import { read } from "../shared/invoke.ts";
import { readOpenMetrics } from "../shared/open-metrics.ts";
import type { ReadSpan } from "../shared/otlp.ts";
import { APPROVE, askToPay, decide, ended, useApprovalLab } from "../shared/people.ts";
import { findExcess, meterNextRun, untilQuiet } from "../shared/run-meter.ts";
import {
  crash,
  deadlinesOf,
  ring,
  ringAlarm,
  rowsOf,
  tellOutcome,
  untilState,
} from "../shared/run-object.ts";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { chat, govern, runIdOf, send, stateOf, type Caller } from "../shared/worker.ts";
import { changeLab } from "../workers/lab-deployment.ts";

useApprovalLab();
afterAll(() => void vi.restoreAllMocks());
beforeAll(async () => {
  changeLab({ traces: otlpTraces });
  await govern({ allowedTools: ["lab__lend_book", "lab__return_book", "lab__order"] });
});
beforeEach(async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  vi.spyOn(console, "warn").mockImplementation((line: string) => void warned.push(line));
  warned.length = 0;
  await answerSpans(200);
});

/** What the log says in the current test. */
const warned: string[] = [];

const ORDER: ScriptedStep = {
  text: ["Ordering"],
  calls: [{ name: "lab__order", args: '{"what":"tea"}' }],
};
const END: ScriptedStep = { text: ["That is all"], usage: undefined };

/** Runs a chat to its end, with these headers. */
async function runChat(
  steps: readonly ScriptedStep[],
  headers: Record<string, string> = {},
  caller: Caller = "lab",
): Promise<string> {
  const response = await send("/v1/chat", {
    caller,
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ messages: [{ role: "user", content: script(...steps) }] }),
  });
  await response.text();
  return runIdOf(response);
}

/** The one span with a name that begins so. */
function spanOf(spans: readonly ReadSpan[], name: string): ReadSpan {
  const [found, second] = spans.filter((one) => one.name.startsWith(name));
  if (!found || second) throw new Error(`${name}: ${spans.map((one) => one.name).join(", ")}`);
  return found;
}

/** Spans as a tree: the name of each, and those below it. */
function nest(spans: readonly ReadSpan[], parent?: string): readonly unknown[] {
  const own = spans.filter((one) => one.parent === parent);
  return own.map(({ id, name }) => [name, nest(spans, id)]);
}

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";
const SENT = `00-${TRACE}-${SPAN}-00`;

describe("the spans of a run", () => {
  test("tell the run, each answer of its model, each call and each wait for people", async () => {
    const { runId, approvalId } = await askToPay({ pin: "hidden-pin" });
    for (const person of ["bob", "cat"] as const) await decide(approvalId, person, APPROVE);
    await ended(runId);
    const spans = await spansOf(runId);
    expect(nest(spans)).toEqual([
      [
        "invoke_agent default",
        [
          ["chat scripted", []],
          ["chat scripted", []],
          ["execute_tool lab__transfer", [["await_people", []]]],
        ],
      ],
    ]);
    const [root, first, second, call, wait] = spans as [
      ReadSpan,
      ReadSpan,
      ReadSpan,
      ReadSpan,
      ReadSpan,
    ];
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(spans.map(({ kind }) => kind)).toEqual([1, 3, 3, 1, 1]);
    const times = [root.startMs, first.startMs, first.endMs, wait.startMs, wait.endMs];
    const later = [call.endMs, second.startMs, second.endMs, root.endMs];
    expect([...times, ...later]).toEqual([...times, ...later].toSorted((a, b) => a - b));
    expect(call.startMs).toBeLessThanOrEqual(wait.startMs);
    expect(root.attributes).toEqual({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "default",
      "gen_ai.request.model": "scripted",
      "gen_ai.conversation.id": runId,
      "gen_ai.usage.input_tokens": 20,
      "gen_ai.usage.output_tokens": 4,
      "interlock.run.id": runId,
      "interlock.run.reason": "stop",
      "interlock.run.interruptions": 0,
      "interlock.tenant.id": "guild",
    });
    expect(call.attributes).toEqual({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "lab__transfer",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": "call_1",
      "interlock.tool.version": "1.0.0",
      "interlock.tool.side_effect_class": "CRITICAL_MUTATION",
      "interlock.tool.validation.status": "passed",
      "interlock.tool.retryable": false,
      "interlock.tool.repairable": false,
      "interlock.tool.attempts": 1,
      "interlock.tool.idempotency_key_hash": expect.stringMatching(/^hmac-sha256:[0-9a-f]{64}$/),
      "interlock.tool.approval_id": approvalId,
      "interlock.tenant.id": "guild",
      "interlock.trace.replayable": true,
      "interlock.tool.attribute.to": "bakery",
      "interlock.tool.attribute.amount": 40,
      "interlock.tool.attribute.moved": 40,
    });
    expect(wait.attributes).toEqual({
      "interlock.wait.for": "approval",
      "interlock.wait.end": "approved",
      "interlock.tool.approval_id": approvalId,
    });
    const [sent] = await sentOf(runId);
    expect(sent).toMatchObject({
      path: "/otlp/v1/traces",
      authorization: "Bearer collector-secret",
      type: "application/json",
    });
    expect(sent?.text).not.toMatch(/hidden-pin|bob|cat|ann|collector-secret/);
  });

  test("tell the usage of each answer, cached tokens and reasoning apart", async () => {
    const usage = {
      prompt_tokens: 90,
      completion_tokens: 40,
      prompt_tokens_details: { cached_tokens: 64 },
      completion_tokens_details: { reasoning_tokens: 24 },
    };
    const spans = await spansOf(await runChat([{ text: ["ok"], usage }]));
    expect(spanOf(spans, "chat").attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.usage.input_tokens": 90,
      "gen_ai.usage.cache_read.input_tokens": 64,
      "gen_ai.usage.output_tokens": 40,
      "gen_ai.usage.reasoning.output_tokens": 24,
    });
  });

  test("cost the object of the run no commit, statement or row", async () => {
    const excess = async (): Promise<readonly string[]> => {
      const costs = meterNextRun();
      const runId = await runChat([{ text: ["done"] }]);
      await spansOf(runId);
      await untilQuiet(costs);
      const found = findExcess(costs, budgets["a short answer"]);
      // The statement that stores what was delivered is one of those that were counted.
      const [row] = await rowsOf(runId, "SELECT delivered_seq FROM log WHERE seq = 0");
      expect(row?.["delivered_seq"]).toBeGreaterThan(0);
      return found;
    };
    await expect.poll(excess, { timeout: 20_000 }).toEqual([]);
  });

  test("hold no words of people, models, tools and providers, and no secret", async () => {
    const secret = `sk-${"a1B2".repeat(12)}`;
    const steps: readonly ScriptedStep[] = [
      {
        text: ["word-of-model"],
        reasoning: "word-of-reasoning",
        calls: [
          { name: "word-of-made-up-tool", args: '{"word-of-argument":1}' },
          { name: "lab__write_note", args: '{"text":"word-of-note","to":"bob"}' },
          { name: "lab__leak", args: '{"how":"throw"}' },
        ],
      },
      { status: 400, words: "word-of-provider" },
    ];
    const runId = await runChat(steps);
    const spans = await spansOf(runId);
    const [sent] = await sentOf(runId);
    expect(sent?.text).not.toMatch(/word-of|WORD-OF/);
    expect(spans.filter(({ status }) => status === 2).map(({ name }) => name)).toEqual([
      "invoke_agent default",
      "chat scripted",
      "execute_tool unknown",
      "execute_tool lab__write_note",
      "execute_tool lab__leak",
    ]);
    const refused = spanOf(spans, "execute_tool lab__write_note").attributes;
    expect(refused).toMatchObject({
      "error.type": "POLICY_VIOLATION",
      "interlock.tool.error_code": "POLICY_VIOLATION",
      "interlock.tool.validation.status": "blocked",
    });

    const paid = await askToPay({ to: secret });
    for (const person of ["bob", "cat"] as const) await decide(paid.approvalId, person, APPROVE);
    await ended(paid.runId);
    await spansOf(paid.runId);
    expect((await sentOf(paid.runId))[0]?.text).not.toContain(secret);
  });
});

describe("the trace of a run", () => {
  test("is that of the request, and goes on to the provider and to upstreams", async () => {
    const headers = { traceparent: SENT, tracestate: "vendor=secret-state" };
    const runId = await runChat([ORDER, END], headers);
    const spans = await spansOf(runId);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
    expect(spanOf(spans, "invoke_agent").parent).toBe(SPAN);
    const named = [...(await namedTo("provider.test")), ...(await namedTo("shop.test"))].filter(
      ({ traceparent }) => traceparent.includes(TRACE),
    );
    const chats = spans.filter(({ name }) => name.startsWith("chat")).map(({ id }) => id);
    const { id: call } = spanOf(spans, "execute_tool");
    // The shop's first answer is 503.
    expect(named.map(({ traceparent }) => traceparent)).toEqual(
      [...chats, call, call].map((id) => `00-${TRACE}-${id}-01`),
    );
    expect(named.every(({ tracestate }) => tracestate === null)).toBe(true);
    expect((await sentOf(runId))[0]?.text).not.toContain("secret-state");
  });

  test.each([
    ["of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["of a span of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["in capitals", SENT.toUpperCase()],
    ["of another version", SENT.replace(/^00/, "ff")],
    ["that is too long", `${SENT}-${"a".repeat(4_000)}`],
    ["that is too short", SENT.slice(0, -1)],
    ["with more behind it", `${SENT}, ${SENT}`],
    ["that is no such thing", "sk-secret-of-somebody"],
  ])("is its own where the request names a trace %s", async (_what, traceparent) => {
    const spans = await spansOf(await runChat([END], { traceparent }));
    const { traceId, parent } = spanOf(spans, "invoke_agent");
    expect([traceId === TRACE, parent]).toEqual([false, undefined]);
  });

  test("is that of the call for the run that undoes the call, with a link to it", async () => {
    const asked = {
      caller: "victor",
      method: "POST",
      headers: {
        "content-type": "application/json",
        "idempotency-key": '"lend Emma"',
        traceparent: SENT,
      },
      body: JSON.stringify({ arguments: { book: "Emma" } }),
    } as const;
    const lent = await read(await send("/v1/tools/lab__lend_book/invoke", asked));
    const spans = await spansOf(lent.runId);
    const call = spanOf(spans, "execute_tool");
    const path = `/v1/runs/${lent.runId}/invocations/inv_1/compensate`;
    const undone = await read(await send(path, { caller: "victor", method: "POST" }));
    const ofUndo = await spansOf(undone.runId);
    const root = spanOf(ofUndo, "invoke_agent");
    expect(root).toMatchObject({
      traceId: TRACE,
      parent: spanOf(spans, "invoke_agent").id,
      links: [`${call.traceId} ${call.id}`],
    });
    expect(ofUndo.map(({ name }) => name)).toEqual([
      "invoke_agent",
      "execute_tool lab__return_book",
    ]);
    expect(ofUndo.map(({ id }) => id).filter((id) => spans.some((one) => one.id === id))).toEqual(
      [],
    );
  });

  test("is one, also where the object of the run dies and operators resolve an outcome", async () => {
    const pay = { id: "p", name: "lab__pay", args: '{"what":"traced","afterwards":"break"}' };
    const hang: ScriptedStep = { text: ["half"], hangs: true, once: "traced", later: END };
    const response = await chat([{ calls: [pay] }, hang], "lab");
    const runId = runIdOf(response);
    await response.body?.cancel().catch(() => {});
    await untilState(runId, { status: "waiting" });
    await tellOutcome(runId, { body: { outcome: "committed" } });
    await expect.poll(async () => (await stateOf(runId, "lab")).steps).toBe(2);
    await crash(runId);
    await ringAlarm(runId);
    await untilState(runId, { status: "completed" });
    const spans = await spansOf(runId);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(spanOf(spans, "invoke_agent").attributes).toMatchObject({
      "interlock.run.interruptions": 1,
    });
    const wait = spanOf(spans, "await_people");
    expect(wait.attributes).toEqual({
      "interlock.wait.for": "outcome",
      "interlock.wait.end": "committed",
    });
    expect(wait.parent).toBe(spanOf(spans, "execute_tool lab__pay").id);
    expect(spans.filter(({ name }) => name.startsWith("chat"))).toHaveLength(2);
  });
});

/** How many runs of the tenant were dropped. */
async function dropped(): Promise<number> {
  const bytes = await (await send("/v1/metrics", { caller: "bendable" })).arrayBuffer();
  const { samples } =
    readOpenMetrics(new TextDecoder().decode(bytes)).get("interlock_traces_dropped") ?? {};
  return samples?.get("interlock_traces_dropped_total") ?? 0;
}

/** Lets the run have ended long ago. */
async function endLongAgo(runId: string): Promise<void> {
  const state = JSON.stringify([{ kind: "progress", changed: { endedMs: 1 } }]);
  await rowsOf(runId, `INSERT INTO log (is_partial, state) VALUES (0, '${state}')`);
  await crash(runId);
}

describe("a collector", () => {
  test("that is away gets the same spans later, and no run hears of it", async () => {
    await answerSpans(503);
    const runId = await runChat([ORDER, END]);
    await untilState(runId, { status: "completed" });
    await expect.poll(() => deadlinesOf(runId)).toHaveProperty("traces");
    await answerSpans(200);
    await ring(runId, "traces");
    const [first, second, ...more] = await sentOf(runId);
    expect([second?.text, more]).toEqual([first?.text, []]);
    expect(await deadlinesOf(runId)).not.toHaveProperty("traces");
  });

  test("gets the spans again where the object dies before it notes that they arrived", async () => {
    const runId = await runChat([END]);
    await expect.poll(() => deadlinesOf(runId)).toHaveProperty("forget");
    const before = '{"watchdog":{"atMs":1}}';
    await rowsOf(runId, `UPDATE log SET deadlines = '${before}' WHERE seq = 0`);
    await crash(runId);
    await ringAlarm(runId);
    await ringAlarm(runId);
    const sent = await sentOf(runId);
    expect([sent.length, new Set(sent.map(({ text }) => text)).size]).toEqual([2, 1]);
  });

  test("gets the spans again where the object dies while it waits for the answer", async () => {
    await answerSpans(0);
    const runId = await runChat([END]);
    await spansOf(runId);
    // The watchdog finds a run whose end is not delivered.
    await ring(runId, "watchdog");
    await crash(runId);
    await answerSpans(200);
    await ring(runId, "traces");
    const sent = await sentOf(runId);
    expect([sent.length, new Set(sent.map(({ text }) => text)).size]).toEqual([2, 1]);
    expect(await deadlinesOf(runId)).not.toHaveProperty("traces");
  });

  test("that never comes back loses the spans, which is counted", async () => {
    const before = await dropped();
    await answerSpans(503);
    const runId = await runChat([END], {}, "bendable");
    await expect.poll(() => deadlinesOf(runId)).toHaveProperty("traces");
    await endLongAgo(runId);
    await ring(runId, "traces");
    await expect.poll(dropped).toBe(before + 1);
    expect(await deadlinesOf(runId)).not.toHaveProperty("traces");
  });

  test.each([400, 307] as const)(
    "that answers %s is not asked again, and gets no header elsewhere",
    async (status) => {
      const before = await dropped();
      await answerSpans(status);
      const runId = await runChat([END], {}, "bendable");
      await expect.poll(dropped).toBe(before + 1);
      await ringAlarm(runId);
      expect(await sentOf(runId)).toHaveLength(1);
      expect(await (await fetch(`${RECEIVER}/spans`)).json()).toEqual([]);
      expect(warned.map((line) => JSON.parse(line) as object)).toEqual([
        { level: "warn", code: "traces_dropped", tenantId: "bendable", runId, reason: "refused" },
      ]);
    },
  );

  test("gets nothing of a run whose words were deleted meanwhile", async () => {
    await answerSpans(503);
    const runId = await runChat([ORDER, END]);
    await expect.poll(() => deadlinesOf(runId)).toHaveProperty("traces");
    const tries = (await sentOf(runId)).length;
    await ring(runId, "retention");
    await answerSpans(200);
    await ring(runId, "traces");
    expect(await sentOf(runId)).toHaveLength(tries);
    expect(await deadlinesOf(runId)).not.toHaveProperty("traces");
  });
});

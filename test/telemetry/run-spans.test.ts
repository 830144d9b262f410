import { expect, test } from "vitest";
import type { RunId, TenantId, ToolCallId } from "../../src/protocol/identity/ids.ts";
import type { ToolInvocationRecord } from "../../src/protocol/invocation/record.ts";
import { NO_USAGE } from "../../src/protocol/model/usage.ts";
import type { AiEvent } from "../../src/protocol/run/event.ts";
import { traceOf } from "../../src/telemetry/traces/run-trace.ts";
import { spansOfRun } from "../../src/telemetry/traces/run-spans.ts";
import { toOtlpJson, toSpansJson, type Span } from "../../src/telemetry/traces/span.ts";
import type { TracedRun } from "../../src/telemetry/traces/traced-run.ts";
import { readOtlp } from "../shared/otlp.ts";

const RUN = "run_1" as RunId;
const fields = Array.from({ length: 20 }, (_, at) => `field_${at}`);

/** A call that shows these fields. */
function callOf(number: number, shownArgs: object, step = 1): ToolInvocationRecord {
  return {
    number,
    step,
    part: number,
    toolCallId: `call_${number}` as ToolCallId,
    name: "desk__file",
    askedAtMs: 1_000 + number,
    binding: { version: "1.0.0", shownArgs },
  } as ToolInvocationRecord;
}

function runOf(given: Partial<TracedRun>): TracedRun {
  return {
    runId: RUN,
    tenantId: "acme" as TenantId,
    conversationId: RUN,
    model: "m",
    isCall: false,
    createdMs: 1_000,
    endedMs: 9_000,
    reason: "stop",
    error: null,
    usage: NO_USAGE,
    interruptions: 0,
    events: [],
    calls: [],
    approvals: [],
    outcomeWaitMs: 1,
    modelOf: () => undefined,
    toolOf: () => ({ sideEffectClass: "READ_ONLY", traceAttributes: fields }),
    keyHashes: new Map(),
    ...given,
  };
}

async function tell(given: Partial<TracedRun>): Promise<readonly Span[]> {
  return spansOfRun(runOf(given), await traceOf({ runId: RUN }));
}

test("the fields that a contract names are few, short and single values", async () => {
  const shown = {
    ...Object.fromEntries(fields.map((name) => [name, "x".repeat(300)])),
    field_0: `${"x".repeat(127)}😀`,
    field_1: { deep: 1 },
    field_2: ["list"],
    field_3: null,
    field_4: 4.5,
    field_5: false,
  };
  const spans = await tell({ calls: [callOf(1, shown)] });
  const [, call] = read(spans).spans;
  const named = Object.entries(call?.attributes ?? {}).filter(([name]) => name.includes("field_"));
  expect(named).toHaveLength(13);
  expect(named.filter(([, value]) => String(value).length > 128)).toEqual([]);
  expect(call?.attributes).toMatchObject({
    "interlock.tool.attribute.field_0": `${"x".repeat(127)}\ufffd`,
    "interlock.tool.attribute.field_4": 4.5,
    "interlock.tool.attribute.field_5": false,
    "interlock.tool.attribute.field_15": "x".repeat(128),
  });
});

const read = (spans: readonly Span[]): ReturnType<typeof readOtlp> =>
  readOtlp(toOtlpJson([toSpansJson("a".repeat(32), spans)], { service: "desk", version: "1" }));

test("a run of very many calls sends a thousand spans", async () => {
  const calls = Array.from({ length: 3_000 }, (_, at) => callOf(at + 1, {}));
  const spans = await tell({ calls });
  expect(spans).toHaveLength(1_000);
  expect(spans[0]?.name).toBe("invoke_agent");
  expect(read(spans).spans).toHaveLength(1_000);
});

test("a span of an answer ends with the calls that it asks for, and names the model that answered", async () => {
  const events: readonly AiEvent[] = [
    { type: "step_started", step: 1, messageId: "1" },
    { type: "step_finished", step: 1, finish: "tool_calls", usage: NO_USAGE, continued: true },
    { type: "step_started", step: 2, messageId: "2" },
    { type: "model_changed", from: "m", to: "other", reason: "overloaded" },
    { type: "step_finished", step: 2, finish: "stop", usage: NO_USAGE, continued: false },
  ];
  const spans = await tell({ events, calls: [callOf(1_000, {})] });
  expect(spans.map(({ name, startMs, endMs }) => [name, startMs, endMs])).toEqual([
    ["invoke_agent", 1_000, 9_000],
    ["chat m", 1_000, 2_000],
    ["chat other", 9_000, 9_000],
    ["execute_tool desk__file", 2_000, 9_000],
  ]);
});

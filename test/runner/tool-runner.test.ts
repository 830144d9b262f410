import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { defineTool } from "../../src/contracts/define-tool.ts";

import type { ToolCallId } from "../../src/protocol/identity/ids.ts";
import { fail, ok } from "../../src/protocol/outcome/result.ts";
import type { ToolCall } from "../../src/protocol/tool/call.ts";
import type { ToolExecResult } from "../../src/protocol/invocation/record.ts";

import type { FakeClock, MemoryJournal } from "../fakes/fakes.ts";
import { benchFor, contextOf, passing } from "../fakes/runner-ports.ts";
import { AS_READ } from "../shared/tools.ts";

const ALLOW = { allowedTools: ["test__note"] };

interface Setup {
  /** The tool changes nothing. */
  readonly reads?: boolean;
  readonly policy?: object;
  readonly execute?: () => unknown;
  readonly abort?: AbortSignal;
  readonly call?: Partial<ToolCall>;
}

/** Runs one call of a tool that notes what reached it. */
async function exec(setup: Setup = {}): Promise<{
  readonly result: ToolExecResult;
  readonly reached: readonly unknown[];
  readonly journal: MemoryJournal;
  readonly clock: FakeClock;
}> {
  const reached: unknown[] = [];
  const note = defineTool({
    name: "test__note",
    version: "1.0.0",
    description: "Notes.",
    input: v.strictObject({
      text: v.pipe(v.string(), v.maxLength(10)),
      size: v.optional(v.pipe(v.number(), v.minValue(1))),
      secret: v.optional(v.string()),
    }),
    output: v.strictObject({ text: v.string(), token: v.string() }),
    sideEffectClass: "LOW_RISK_INTERNAL",
    effect: "state_change",
    ...(setup.reads === true && AS_READ),
    redaction: { args: ["text"], output: ["text"] },
    capabilities: [],
    runtime: { maxRetries: 0, timeoutMs: 1000, maxArgumentsBytes: 200, maxResultBytes: 200 },
    execute(args) {
      reached.push(args);
      return (setup.execute?.() ?? ok({ text: args.text, token: "s3cret" })) as never;
    },
  });
  const { runner, clock, journal } = benchFor([note], { policy: setup.policy ?? ALLOW });
  const call: ToolCall = {
    toolCallId: "call_1" as ToolCallId,
    name: "test__note",
    argumentsText: '{"text":"hi"}',
    truncated: false,
    ...setup.call,
  };
  const { signal } = new AbortController();
  const pending = runner.exec(call, contextOf(call.toolCallId), setup.abort ?? signal);
  const result = await passing(pending, clock);
  if (result === "waiting") throw new Error("it waits for an operator");
  return { result, reached, journal, clock };
}

test("a call that passes every gate runs once, and its redacted output comes back", async () => {
  const { result, reached, journal, clock } = await exec({
    call: { argumentsText: '{"text":"hi","secret":"hunter2"}' },
  });
  expect(reached).toEqual([{ text: "hi", secret: "hunter2" }]);
  expect(result).toMatchObject({ ok: true, toolCallId: "call_1", value: { text: "hi" } });
  expect(result.observation.result_payload.data).toEqual({ text: "hi" });
  expect(journal.events.map(({ type }) => type)).toEqual(["tool_call_start", "tool_call_result"]);
  expect(journal.events[0]).toMatchObject({ args: { text: "hi" } });
  expect(JSON.stringify(journal.events)).not.toMatch(/s3cret|hunter2/);
  expect(clock.waiting).toBe(0);
});

describe("a gate that says no ends the call, and nothing after it runs", () => {
  const cases: readonly [name: string, setup: Setup, taxonomyClass: string, errorCode: string][] = [
    ["1 lookup", { call: { name: "test__other" } }, "STRUCTURAL_VIOLATION", "unavailable"],
    [
      "1 lookup by own id only",
      { call: { name: "constructor" } },
      "STRUCTURAL_VIOLATION",
      "unavailable",
    ],
    [
      "2 policy: not on the list",
      { policy: { ...ALLOW, allowedTools: [] } },
      "POLICY_VIOLATION",
      "policy_denied",
    ],
    [
      "3 parse: not JSON",
      { call: { argumentsText: '{"text":' } },
      "SYNTACTIC_PARSE_FAIL",
      "invalid_json",
    ],
    [
      "3 parse: not an object",
      { call: { argumentsText: '["hi"]' } },
      "SYNTACTIC_PARSE_FAIL",
      "invalid_json",
    ],
    ["3 parse: cut off", { call: { truncated: true } }, "SYNTACTIC_PARSE_FAIL", "invalid_json"],
    [
      "3 parse: too large",
      { call: { argumentsText: `{"text":"${"é".repeat(120)}"}` } },
      "OUT_OF_BOUNDS",
      "validation",
    ],
    [
      "3 parse: too deep",
      { call: { argumentsText: `{"text":${"[".repeat(64)}` } },
      "OUT_OF_BOUNDS",
      "validation",
    ],
    [
      "3 parse: half a character",
      { call: { argumentsText: '{"text":"\\ud83d"}' } },
      "SYNTACTIC_PARSE_FAIL",
      "invalid_json",
    ],
    [
      "3 parse: __proto__",
      { call: { argumentsText: '{"text":"a","__proto__":{}}' } },
      "STRUCTURAL_VIOLATION",
      "validation",
    ],
    [
      "4 shape: missing field",
      { call: { argumentsText: "{}" } },
      "STRUCTURAL_VIOLATION",
      "validation",
    ],
    [
      "4 shape: unknown field",
      { call: { argumentsText: '{"text":"a","x":1}' } },
      "STRUCTURAL_VIOLATION",
      "validation",
    ],
    ["4 types", { call: { argumentsText: '{"text":7}' } }, "TYPE_MISMATCH", "validation"],
    [
      "4 bounds",
      { call: { argumentsText: '{"text":"elevenchars"}' } },
      "OUT_OF_BOUNDS",
      "validation",
    ],
    [
      "4 the most basic fault first",
      { call: { argumentsText: '{"size":0}' } },
      "STRUCTURAL_VIOLATION",
      "validation",
    ],
    ["12 a run that was cancelled", { abort: AbortSignal.abort() }, "UNKNOWN_ERROR", "execution"],
  ];
  test.each(cases)("%s", async (_name, setup, taxonomyClass, errorCode) => {
    const { result, reached, journal } = await exec(setup);
    expect(reached).toEqual([]);
    expect(result).toMatchObject({ ok: false, errorCode });
    expect(result.observation.status).toMatchObject({
      is_error: true,
      taxonomy_class: taxonomyClass,
    });
    const results = journal.events.filter(({ type }) => type === "tool_call_result");
    expect(results).toMatchObject([{ toolCallId: "call_1" }]);
    expect(journal.records).toMatchObject([{ toolCallId: "call_1", end: { errorCode } }]);
  });
});

describe("what happens inside a tool stays inside", () => {
  const cases: readonly [
    name: string,
    execute: () => unknown,
    taxonomyClass: string,
    code: string,
  ][] = [
    [
      "a throw",
      () => {
        throw new Error("at /etc/passwd: s3cret");
      },
      "UNKNOWN_ERROR",
      "tool_failed",
    ],
    ["a rejection", () => Promise.reject(new Error("s3cret")), "UNKNOWN_ERROR", "tool_failed"],
    ["an answer that never comes", () => new Promise(() => {}), "TIMEOUT", "timeout"],
    ["an answer of no form", () => 7, "UNKNOWN_ERROR", "tool_failed"],
    [
      "an output that breaks the contract",
      () => ok({ text: 5, token: "s3cret" }),
      "OBSERVATION_NORMALIZATION_FAIL",
      "invalid_output",
    ],
    ["no output at all", () => ok(undefined), "OBSERVATION_NORMALIZATION_FAIL", "invalid_output"],
    [
      "a failure it declares",
      () =>
        fail({
          taxonomyClass: "STALE_STATE",
          errors: [{ field: null, code: "moved", message: "it moved" }],
        }),
      "STALE_STATE",
      "moved",
    ],
  ];
  test.each(cases)("%s", async (_name, execute, taxonomyClass, code) => {
    const { result, reached, journal, clock } = await exec({ execute, reads: true });
    expect(reached.length).toBe(1);
    expect(result.observation.status.taxonomy_class).toBe(taxonomyClass);
    expect(result.observation.result_payload).toMatchObject({ data: null, errors: [{ code }] });
    expect(result.observation.tool_identity.version).toBe("1.0.0");
    expect(journal.records).toMatchObject([{ binding: { args: { text: "hi" } } }]);
    expect(JSON.stringify([result, journal.events])).not.toContain("s3cret");
    expect(clock.waiting).toBe(0);
  });
});

test.each([
  ["arguments_too_large", { argumentsText: `{"text":"${"é".repeat(120)}"}` }],
  ["arguments_too_deep", { argumentsText: `{"text":${"[".repeat(64)}` }],
  ["forbidden_key", { argumentsText: '{"text":"a","__proto__":{}}' }],
])("the parse gate itself says %s", async (code, call) => {
  const { result } = await exec({ call });
  expect(result.observation.result_payload.errors).toMatchObject([{ code }]);
});

test.each([
  ["the contract's", { execute: () => ok({ text: "é".repeat(300), token: "s3cret" }) }, 200],
  [
    "the policy's own, where it is the smaller",
    {
      policy: { ...ALLOW, budgets: { maxResultBytes: 60 } },
      execute: () => ok({ text: "é".repeat(300), token: "s3cret" }),
    },
    60,
  ],
])("a result is cut to %s bound, between characters, and says so", async (_name, setup, bytes) => {
  const { result } = await exec(setup);
  const { data, warnings } = result.observation.result_payload;
  const size = new TextEncoder().encode(JSON.stringify(data)).byteLength;
  expect(size).toBeLessThanOrEqual(bytes);
  expect(size).toBeGreaterThan(bytes - 4);
  expect(data).toEqual({ text: expect.stringMatching(/^é+…\[truncated\]$/) });
  expect(warnings).toEqual([expect.stringContaining(`cut to ${bytes} bytes`)]);
});

test("a result that cannot be cut to its bound is a failure that says the tool ran", async () => {
  const { result } = await exec({
    policy: { ...ALLOW, budgets: { maxResultBytes: 5 } },
    execute: () => ok({ text: "more than five bytes", token: "" }),
  });
  expect(result.observation.result_payload.errors).toMatchObject([
    { code: "result_too_large", message: expect.stringContaining("the tool ran") },
  ]);
});

test("a tool that runs when the run is cancelled is left behind", async () => {
  const abort = new AbortController();
  const { result, reached } = await exec({
    abort: abort.signal,
    reads: true,
    execute: () => {
      queueMicrotask(() => abort.abort());
      return new Promise(() => {});
    },
  });
  expect(reached.length).toBe(1);
  expect(result.observation.result_payload.errors).toMatchObject([{ code: "cancelled" }]);
});

test("a run that is cancelled announces no start", async () => {
  const { journal } = await exec({ abort: AbortSignal.abort() });
  expect(journal.events.map(({ type }) => type)).toEqual(["tool_call_result"]);
});

test("a tool's own failure is kept within bounds", async () => {
  const error = {
    field: "/x".repeat(10_000),
    code: "c".repeat(10_000),
    message: "m".repeat(3_000_000),
  };
  const { result } = await exec({
    execute: () =>
      fail({ taxonomyClass: "STALE_STATE", errors: Array.from({ length: 99 }, () => error) }),
  });
  expect(JSON.stringify(result.observation).length).toBeLessThan(32 * 1024);
});

test("a tool gets the capabilities it names, and only until its invocation ends", async () => {
  let late: (() => void) | undefined;
  const titles: string[] = [];
  const tool = defineTool({
    name: "test__grab",
    version: "1.0.0",
    description: "Grabs.",
    input: v.strictObject({}),
    output: v.strictObject({ granted: v.array(v.string()) }),
    sideEffectClass: "READ_ONLY",
    effect: "read_only",
    redaction: { args: [], output: ["granted"] },
    capabilities: ["runTitle"],
    execute(_args, _context, capabilities) {
      late = () => capabilities.runTitle.set("too late");
      capabilities.runTitle.set("in time");
      return ok({ granted: Object.keys(capabilities) });
    },
  });
  const { call } = benchFor([tool], { runTitle: { set: (title) => void titles.push(title) } });
  const { value } = await call("test__grab", {});
  expect(value).toEqual({ granted: ["signal", "idempotencyKey", "runTitle"] });
  expect(late).toThrow("the invocation is over");
  expect(titles).toEqual(["in time"]);
});

test("a tool learns that its time is up", async () => {
  const aborted: unknown[] = [];
  const tool = defineTool({
    name: "test__slow",
    version: "1.0.0",
    description: "Waits.",
    input: v.strictObject({}),
    output: v.strictObject({}),
    sideEffectClass: "READ_ONLY",
    effect: "read_only",
    redaction: { args: [], output: [] },
    capabilities: [],
    runtime: { timeoutMs: 50 },
    execute: (_args, _context, { signal }) =>
      new Promise(() => signal.addEventListener("abort", () => void aborted.push(true))),
  });
  const policy = { allowedTools: ["test__slow"], budgets: { maxRuntimeMs: 20 } };
  const { call, clock } = benchFor([tool], { policy });
  const pending = passing(call("test__slow", {}), clock, 20);
  expect((await pending).observation.status.taxonomy_class).toBe("TIMEOUT");
  expect(aborted.length).toBeGreaterThan(0);
});

test("repair feedback names what was expected and never the value that came", async () => {
  const { result } = await exec({ call: { argumentsText: '{"text":12345678,"size":"hunter2"}' } });
  const { errors } = result.observation.result_payload;
  expect(errors).toEqual([
    { field: "/text", code: "TYPE_MISMATCH", message: "expected string, got a number" },
    {
      field: "/size",
      code: "TYPE_MISMATCH",
      message: "expected number, got a string of 7 characters",
    },
  ]);
});

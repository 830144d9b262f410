import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import { fail, ok } from "../../src/protocol/outcome/result.ts";
import { benchFor, passing } from "../../src/testing/fakes/runner-ports.ts";
import { never } from "./answers.ts";
import { execNote } from "./exec-note.ts";
import { AS_READ, noteTool } from "../shared/tools.ts";

test("a tool gets only the capabilities of its contract, until its invocation ends", async () => {
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

describe("a tool's fault ends its call as a failure without internal detail", () => {
  const cases: readonly [
    name: string,
    execute: () => unknown,
    taxonomyClass: string,
    code: string,
  ][] = [
    [
      "the tool throws",
      () => {
        throw new Error("at /etc/passwd: s3cret");
      },
      "UNKNOWN_ERROR",
      "tool_failed",
    ],
    ["the tool rejects", () => Promise.reject(new Error("s3cret")), "UNKNOWN_ERROR", "tool_failed"],
    ["the tool never answers", () => new Promise(() => {}), "TIMEOUT", "timeout"],
    ["the tool returns no result object", () => 7, "UNKNOWN_ERROR", "tool_failed"],
    [
      "the output breaks the contract",
      () => ok({ text: 5, token: "s3cret" }),
      "OBSERVATION_NORMALIZATION_FAIL",
      "invalid_output",
    ],
    [
      "the output is missing",
      () => ok(undefined),
      "OBSERVATION_NORMALIZATION_FAIL",
      "invalid_output",
    ],
    [
      "the tool declares a failure",
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
    const { result, reached, journal, clock } = await execNote({ execute, reads: true });
    expect(reached.length).toBe(1);
    expect(result.observation.status.taxonomy_class).toBe(taxonomyClass);
    expect(result.observation.result_payload).toMatchObject({ data: null, errors: [{ code }] });
    expect(result.observation.tool_identity.version).toBe("1.0.0");
    expect(journal.records).toMatchObject([{ binding: { shownArgs: { text: "hi" } } }]);
    expect(JSON.stringify([result, journal.events])).not.toContain("s3cret");
    expect(clock.waiting).toBe(0);
  });
});

test("a timeout aborts the tool's signal", async () => {
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

test.each([
  [50, 20, 20],
  [20, 50, 20],
])(
  "with %i ms by contract and %i ms by policy, the shorter timeout applies",
  async (own, policys, ms) => {
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
  },
);

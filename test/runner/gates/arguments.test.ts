import { describe, expect, test } from "vitest";
import { benchFor, endOf } from "../../../src/testing/fakes/runner-ports.ts";
import { ALLOW, execNote, type NoteCall } from "../exec-note.ts";
import { allowing } from "../refused-call.ts";
import { noteTool } from "../../shared/tools.ts";

describe("a refused call ends with one result and never reaches the tool", () => {
  const cases: readonly [
    name: string,
    setup: NoteCall,
    taxonomyClass: string,
    errorCode: string,
  ][] = [
    [
      "1 lookup: unknown name",
      { call: { name: "test__other" } },
      "STRUCTURAL_VIOLATION",
      "unavailable",
    ],
    [
      "1 lookup: a name of the object prototype",
      { call: { name: "constructor" } },
      "STRUCTURAL_VIOLATION",
      "unavailable",
    ],
    [
      "2 policy: not in the list",
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
    [
      "3 parse: truncated by the model",
      { call: { truncated: true } },
      "SYNTACTIC_PARSE_FAIL",
      "invalid_json",
    ],
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
      "3 parse: lone surrogate",
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
    [
      "4 shape: wrong type",
      { call: { argumentsText: '{"text":7}' } },
      "TYPE_MISMATCH",
      "validation",
    ],
    [
      "4 shape: out of bounds",
      { call: { argumentsText: '{"text":"elevenchars"}' } },
      "OUT_OF_BOUNDS",
      "validation",
    ],
    [
      "4 shape: the most basic fault wins",
      { call: { argumentsText: '{"size":0}' } },
      "STRUCTURAL_VIOLATION",
      "validation",
    ],
    ["12 a cancelled run", { abort: AbortSignal.abort() }, "UNKNOWN_ERROR", "execution"],
  ];
  test.each(cases)("%s", async (_name, setup, taxonomyClass, errorCode) => {
    const { result, reached, journal } = await execNote(setup);
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

test.each([
  ["arguments_too_large", { argumentsText: `{"text":"${"é".repeat(120)}"}` }],
  ["arguments_too_deep", { argumentsText: `{"text":${"[".repeat(64)}` }],
  ["forbidden_key", { argumentsText: '{"text":"a","__proto__":{}}' }],
])("the parse gate reports %s", async (code, call) => {
  const { result } = await execNote({ call });
  expect(result.observation.result_payload.errors).toMatchObject([{ code }]);
});

test("a number that is not finite is refused as repairable at any depth", async () => {
  const { tool, reached } = noteTool();
  const { call } = benchFor([tool]);
  for (const text of ['{"text":"hi","amount":1e999}', '{"text":[{"x":-1e999}]}']) {
    const result = await call("test__note", text);
    expect(endOf(result)).toEqual(["OUT_OF_BOUNDS", "number_too_large"]);
    expect(result.response.next_action).toBe("repair_arguments");
  }
  expect(reached).toEqual([]);
});

test("repair feedback names the expected type and never the received value", async () => {
  const { result } = await execNote({
    call: { argumentsText: '{"text":12345678,"size":"hunter2"}' },
  });
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

test.each<[object, RegExp]>([
  [{ equal: "ho" }, /^policy wants this to be one certain value$/],
  [{ haveLengthAtMost: 1 }, /^policy wants this to have a length of at most 1$/],
  [{ beAbsent: true }, /^policy wants this to be left out$/],
])("a broken argument rule is described without its values: %j", async (must, words) => {
  const { tool } = noteTool();
  const argumentRules = [{ tool: "test__note", field: "/text", must }];
  const { call } = benchFor([tool], { policy: allowing({ argumentRules }) });
  const { observation } = await call("test__note", { text: "hi" });
  expect(observation.result_payload.errors).toEqual([
    { field: "/text", code: "argument_rule", message: expect.stringMatching(words) },
  ]);
});

import { expect, test } from "vitest";
import { CallIds } from "../../src/loop/calls/call-ids.ts";
import type { ToolCallId } from "../../src/protocol/identity/ids.ts";

const call = (toolCallId: string, name = "t", argumentsText = "{}", truncated = false) => ({
  toolCallId: toolCallId as ToolCallId,
  name,
  argumentsText,
  truncated,
});
const idsOf = (calls: readonly ReturnType<typeof call>[]): readonly string[] =>
  calls.map(({ toolCallId }) => toolCallId);

test("an id in use is replaced by one that is unused in history and in the step", () => {
  const toolCalls = ["a", "call_2_0"].map((id) => call(id));
  const ids = new CallIds([{ role: "assistant", text: "", toolCalls }]);
  const claimed = ids.claim([call("a"), call("b"), call("b", "u"), call("")], 2);
  const given = claimed.map(({ toolCallId }) => toolCallId);
  expect(given).toEqual(["call_2_0_", "b", "call_2_2", "call_2_3"]);
  expect(ids.claim([call("b")], 2)[0]?.toolCallId).toBe("call_2_0__");
});

test("an id or a name that is too long is not kept, and neither keeps half a character", () => {
  const [long, half] = new CallIds([]).claim([call("x".repeat(129)), call("\ud800", "\udc00")], 1);
  expect(long?.toolCallId).toBe("call_1_0");
  expect([half?.toolCallId, half?.name]).toEqual(["\ufffd", "\ufffd"]);
  expect(new CallIds([]).claim([call("a", "n".repeat(200))], 1)[0]?.name.length).toBe(128);
});

test("calls are one operation only when id, name, arguments and completeness are equal", () => {
  const given = [
    call("a", "t", '{"x":1}'),
    call("a", "t", ' {"x":1.0}'),
    call("a", "u", '{"x":1}'),
    call("a", "t", '{"x":1}', true),
    call("a", "t", '{"x":2}'),
    call("b", "t", '{"x":1}'),
    call("", "t", '{"x":1}'),
    call("", "t", '{"x":1}'),
  ];
  const claimed = new CallIds([]).claim(given, 1);
  expect(idsOf(claimed)).toEqual([
    "a",
    "call_1_1",
    "call_1_2",
    "call_1_3",
    "b",
    "call_1_5",
    "call_1_6",
  ]);
});

test.each([
  ["too deep", "[".repeat(100_000)],
  ["no JSON", "{"],
  ["a number that is too large", '{"x":1e999}'],
])("arguments that are %s are compared as text", (_name, text) => {
  const given = [call("a", "t", text), call("a", "t", text), call("a", "t", `${text} `)];
  expect(idsOf(new CallIds([]).claim(given, 1))).toEqual(["a", "call_1_1"]);
});

test("an id that looks like a secret gives way to another id", () => {
  const ids = ["sk-abcdefgh12345678", "Bearer abcdefgh12345678", "call_sk-abcdefgh12345678"];
  const claimed = new CallIds([]).claim(
    ids.map((id) => call(id)),
    1,
  );
  expect(idsOf(claimed)).toEqual(["call_1_0", "call_1_1", "call_1_2"]);
});

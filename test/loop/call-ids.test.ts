import { expect, test } from "vitest";
import { CallIds } from "../../src/loop/call-ids.ts";
import type { ToolCallId } from "../../src/protocol/identity/ids.ts";

const call = (toolCallId: string, name = "t") => ({
  toolCallId: toolCallId as ToolCallId,
  name,
  argumentsText: "{}",
  truncated: false,
});

test("an id that is taken gives way to one that nobody has, in history or in the step", () => {
  const toolCalls = ["a", "call_2_0"].map((id) => call(id));
  const ids = new CallIds([{ role: "assistant", text: "", toolCalls }]);
  const claimed = ids.claim([call("a"), call("b"), call("b"), call("")], 2);
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

import { expect, test, vi } from "vitest";
import { ok } from "../../src/protocol/outcome/result.ts";
import { benchFor, endOf } from "../../src/testing/fakes/runner-ports.ts";
import { execNote } from "./exec-note.ts";
import { noteTool } from "../shared/tools.ts";

test("a call that passes every gate runs once and returns its redacted output", async () => {
  const { result, reached, journal, clock } = await execNote({
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

test("the arguments of a call are parsed once, and written in canonical form once", async () => {
  const argumentsText = '{"text":"hi","secret":"only here"}';
  const [parse, write] = [vi.spyOn(JSON, "parse"), vi.spyOn(JSON, "stringify")];
  try {
    expect((await execNote({ call: { argumentsText } })).reached).toHaveLength(1);
    // The canonical form writes each text of the arguments by itself.
    const counted = [
      parse.mock.calls.filter(([text]) => text === argumentsText).length,
      write.mock.calls.filter(([value]) => value === "only here").length,
    ];
    expect(counted).toEqual([1, 1]);
  } finally {
    parse.mockRestore();
    write.mockRestore();
  }
});

test("a call whose context contains a secret does not run", async () => {
  const { tool, reached } = noteTool();
  const id = "sk-0123456789abcdef";
  const result = await benchFor([tool]).call("test__note", { text: "hi" }, { id });
  expect(endOf(result)).toEqual(["UNKNOWN_ERROR", "tool_failed"]);
  expect(reached).toEqual([]);
});

test("the stack from `exec` to a tool's `execute` has at most eight frames", async () => {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 100;
  let stack = "";
  const { tool } = noteTool({
    execute() {
      stack = new Error("here").stack ?? "";
      return ok({ text: "" });
    },
  });
  try {
    expect((await benchFor([tool]).call("test__note", { text: "hi" })).ok).toBe(true);
  } finally {
    Error.stackTraceLimit = before;
  }
  const frames = stack.split("\n").slice(1);
  const exec = frames.findIndex((frame) => /\bexec\b.*tool-runner/.test(frame));
  expect(exec, stack).toBeGreaterThan(0);
  expect(frames.slice(0, exec + 1).length).toBeLessThanOrEqual(8);
});

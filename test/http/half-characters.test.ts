import { beforeAll, beforeEach, expect, test } from "vitest";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { transcriptOf } from "../shared/run-object.ts";
import { chat, postChat, runIdOf, seedPolicies } from "../shared/worker.ts";
import { effects, page } from "../workers/lab-tools.ts";

beforeAll(seedPolicies);
beforeEach(() => {
  effects.length = 0;
});

/** `JSON.stringify` writes half a character as an escape. */
const HALF = /\\ud[89a-f]/;

/** Returns what a reader and the provider see of a run, without the message that starts it. */
async function shownOf(response: Response): Promise<string> {
  const runId = runIdOf(response);
  const stream = await response.text();
  const [, ...messages] = await transcriptOf(runId, "lab");
  return `${stream}\n${JSON.stringify(messages)}`;
}

test.each<[string, ScriptedStep, string]>([
  ["text", { text: ["say \ud83d", "\ud83d!"] }, '"say \ufffd\ufffd!"'],
  ["text at the end", { text: ["say", " \ud83d"] }, '"say \ufffd"'],
  ["a tool's name", { calls: [{ name: "lab__\ud83d", args: "{}" }] }, "lab__\ufffd"],
  ["a call's id", { calls: [{ id: "c\ude00", name: "lab__greet", args: "{}" }] }, "c\ufffd"],
  [
    "arguments",
    { calls: [{ name: "lab__write_note", args: '{"text":"\ud83d","to":"ann"}' }] },
    String.raw`{\"text\":\"${"\ufffd"}\",`,
  ],
  [
    "escaped arguments",
    { calls: [{ name: "lab__write_note", args: String.raw`{"text":"\uD83D","to":"ann"}` }] },
    String.raw`{\"text\":\"\\ufffd\",`,
  ],
  [
    "the output of a trusted tool",
    { calls: [{ name: "lab__halves", args: '{"how":"output"}' }] },
    '{"text":"a\ufffd"}',
  ],
  [
    "the failure of a tool",
    { calls: [{ name: "lab__halves", args: '{"how":"failure"}' }] },
    '"message":"a\ufffd"',
  ],
  [
    "a message that is cut within a character",
    { calls: [{ name: "lab__halves", args: '{"how":"cut"}' }] },
    `"message":"${"x".repeat(499)}"`,
  ],
])(
  "half a character in %s reaches readers and the model as U+FFFD, or not",
  async (_, step, shown) => {
    const seen = await shownOf(await chat([step, { text: ["end"] }], "lab"));
    expect(HALF.test(seen)).toBe(false);
    expect(seen).toContain(shown);
  },
);

test("half a character in the output of an untrusted tool reaches nobody", async () => {
  page.text = "a\ud83d";
  const calls = [{ name: "lab__read_page", args: '{"url":"https://evil.test/"}' }];
  const seen = await shownOf(await chat([{ calls }, { text: ["end"] }], "lab"));
  expect(HALF.test(seen)).toBe(false);
  expect(seen).toContain('{"text":"a\ufffd"}');
});

test("arguments with half a character run with U+FFFD in its place", async () => {
  const args = String.raw`{"text":"\ud83d \ud83d\ude00 \\ud83d","to":"ann"}`;
  const calls = [{ name: "lab__write_note", args }];
  await (await chat([{ calls }, { text: ["end"] }], "lab")).text();
  expect(effects).toEqual(["note: \ufffd \u{1f600} \\ud83d"]);
});

test("half a character in a client's history reaches the model as U+FFFD", async () => {
  const call = {
    type: "tool-call",
    toolCallId: "c\ud83d",
    toolName: "t\ud83d",
    args: { a: "\ud83d" },
  };
  const result = { type: "tool-result", toolCallId: "c\ud83d", result: { "\ude00": ["\ud83d"] } };
  const messages = [
    { role: "system", content: "s\ud83d" },
    { role: "user", content: [{ type: "text", text: "u\ud83d" }] },
    { role: "assistant", content: [{ type: "text", text: "a\ud83d" }, call] },
    { role: "tool", content: [result] },
    { role: "user", content: script({ text: ["end"] }) },
  ];
  const runId = runIdOf(await postChat({ messages }, "lab"));
  await expect
    .poll(() => transcriptOf(runId, "lab"))
    .toMatchObject([
      { text: "s\ufffd" },
      { text: "u\ufffd" },
      {
        text: "a\ufffd",
        toolCalls: [{ toolCallId: "c\ufffd", name: "t\ufffd", argumentsText: '{"a":"\ufffd"}' }],
      },
      { toolCallId: "c\ufffd", result: { "\ufffd": ["\ufffd"] } },
      {},
      { text: "end" },
    ]);
});

import { beforeAll, describe, expect, test } from "vitest";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { chat, chunksOf, postChat, seedPolicies, type WireChunk } from "../shared/worker.ts";
import { page } from "../workers/lab-tools.ts";

beforeAll(seedPolicies);

const SAY_END = { role: "user", content: script({ text: ["end"] }) };

interface Delivered {
  readonly toolCallId: string;
  readonly toolName: string;
  args: string;
  result?: unknown;
}

/** Reads the calls of a stream as a client does that keeps the conversation itself. */
function callsOf(chunks: readonly WireChunk[]): readonly Delivered[] {
  const parts = new Map<unknown, Delivered>();
  for (const { type, path, part, textDelta, result } of chunks) {
    const [at] = path as readonly number[];
    const { type: kind, toolCallId, toolName } = (part ?? {}) as Record<string, string>;
    if (type === "part-start" && kind === "tool-call") {
      parts.set(at, { toolCallId: toolCallId ?? "", toolName: toolName ?? "", args: "" });
    }
    const call = parts.get(at);
    if (call && type === "text-delta") call.args += String(textDelta);
    if (call && type === "result") call.result = result;
  }
  return [...parts.values()];
}

/** Sends back what the stream delivered. */
function repost(calls: readonly Delivered[]): Promise<Response> {
  const asked = calls.map(({ toolCallId, toolName, args }) => {
    return { type: "tool-call", toolCallId, toolName, args: JSON.parse(args || "{}") as object };
  });
  const answers = calls.map(({ toolCallId, toolName, result }) => {
    return { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, result }] };
  });
  const messages = [{ role: "assistant", content: asked }, ...answers, SAY_END];
  return postChat({ messages }, "lab");
}

const bytesOf = (value: unknown): number =>
  new TextEncoder().encode(JSON.stringify(value)).byteLength;

type Call = NonNullable<ScriptedStep["calls"]>[number];
const recite = (args: object): Call => ({ name: "lab__recite", args: JSON.stringify(args) });

describe("what a stream delivered is accepted when a client sends it back", () => {
  test.each<[string, Call, number]>([
    ["a result cut to the default limit", { name: "lab__read_page", args: '{"url":"x"}' }, 32_768],
    ["a result cut to the limit of its contract", recite({ letters: 50_000 }), 65_536],
    ["a failure with many long errors", recite({ letters: 0, fails: true }), 32_768],
    [
      "arguments of the limit of their contract",
      recite({ letters: 0, text: "x".repeat(16_000) }),
      0,
    ],
    ["numbers that JSON writes longer", recite({ letters: 0, numbers: [] }), 0],
    ["a call of no tool", { name: "no tool at all", args: "{}" }, 0],
    ["a call whose arguments are no JSON", { name: "lab__recite", args: "{" }, 0],
  ])("%s", async (name, call, minBytes) => {
    page.text = "z".repeat(40_000);
    const numbers = `{"letters":0,"numbers":[${"1e20,".repeat(3_000)}1]}`;
    const asked = name.startsWith("numbers") ? { ...call, args: numbers } : call;
    const delivered = callsOf(await chunksOf(await chat([{ calls: [asked] }, {}], "lab")));
    expect(delivered).toHaveLength(1);
    expect(bytesOf(delivered[0]?.result)).toBeGreaterThanOrEqual(minBytes);
    const response = await repost(delivered);
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("end")]);
  });
});

describe("history beyond the limits of its tool is refused", () => {
  const observation = (data: unknown, rest: object = {}) => ({ result_payload: { data }, ...rest });
  const text = (bytes: number) => ({ text: "z".repeat(bytes) });
  test.each<[string, Partial<Delivered>, number]>([
    ["data of 60 KB, under 64 KB", { result: observation(text(60_000)) }, 200],
    ["a bare result of 60 KB, under 64 KB", { result: text(60_000) }, 200],
    ["data over 64 KB", { result: observation(text(65_536)) }, 422],
    ["a bare result over 64 KB", { result: text(65_536) }, 422],
    ["data over 32 KB of no tool", { toolName: "none", result: observation(text(32_768)) }, 422],
    ["200 KB beside the data", { result: observation(null, text(200_000)) }, 422],
    ["200 KB beside no data", { result: { result_payload: text(200_000) } }, 422],
    ["arguments of 15 KB, under 16 KB", { args: JSON.stringify(text(15_000)) }, 200],
    ["arguments over 16 KB", { args: JSON.stringify(text(16_384)) }, 422],
    [
      "arguments over 8 KB of no tool",
      { toolName: "none", args: JSON.stringify(text(8_192)) },
      422,
    ],
  ])("%s", async (_name, given, status) => {
    const call = { toolCallId: "c", toolName: "lab__recite", args: "{}", result: null, ...given };
    const response = await repost([call]);
    expect([response.status, (await response.text()).includes("too_large")]).toEqual([
      status,
      status === 422,
    ]);
  });
});

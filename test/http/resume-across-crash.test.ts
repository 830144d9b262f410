import {
  AssistantMessageAccumulator,
  AssistantStream,
  AssistantTransportDecoder,
  type AssistantMessage,
} from "assistant-stream";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { EVENT_STREAM_HEADERS } from "../../src/protocol/run/client-wire.ts";
import { written } from "../workers/lab-writes.ts";
import { changeDeadline, crash } from "../shared/run-object.ts";
import type { ScriptedStep } from "../fakes/scripted-model.ts";
import { chat, runIdOf, seedPolicies, send, splitEvents } from "../shared/worker.ts";

beforeAll(seedPolicies);
beforeEach(() => {
  written.length = 0;
});

/** What a reader got of a stream, up to the last whole event. */
interface Read {
  readonly text: string;
  readonly lastId: string;
}

function wholeEvents(seen: string): Read {
  const end = /^[\s\S]*^id: (.*)\n\n/m.exec(seen);
  return { text: end?.[0] ?? "", lastId: end?.[1] ?? "" };
}

/** Reads until the stream says something, and lets it go. */
async function readUntil(word: string, { body }: Response): Promise<Read> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let seen = "";
  while (!seen.includes(word)) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    if (done) throw new Error(`ended before ${word}: ${seen}`);
    seen += value;
  }
  await reader?.cancel().catch(() => {});
  return wholeEvents(seen);
}

const follow = (runId: string, lastId: string): Promise<Response> =>
  send(`/v1/runs/${runId}/events`, { caller: "lab", headers: { "last-event-id": lastId } });

/** Reads the way an assistant-ui client does, with the package's own code. */
async function accumulate(bytes: string): Promise<AssistantMessage> {
  const response = new Response(bytes, { headers: EVENT_STREAM_HEADERS });
  const messages = AssistantStream.fromResponse(
    response,
    new AssistantTransportDecoder(),
  ).pipeThrough(new AssistantMessageAccumulator());
  let last: AssistantMessage | undefined;
  for await (const message of messages) last = message;
  if (!last) throw new Error("no message");
  return last;
}

/** The texts of a message that were not withdrawn. */
function textsOf({ parts, metadata }: AssistantMessage): readonly string[] {
  const data = metadata.unstable_data as unknown as readonly {
    type: string;
    parts?: readonly number[];
  }[];
  const withdrawn = new Set(data.flatMap(({ parts: gone = [] }) => gone));
  return parts.flatMap((part, index) =>
    part.type === "text" && !withdrawn.has(index) ? [part.text] : [],
  );
}

/** No event is there twice. */
function expectOnce(bytes: string): void {
  const seqs = splitEvents(bytes).map(({ id }) => Number(id.split("-")[1]));
  expect(new Set(seqs).size).toBe(seqs.length);
}

const say = (...text: readonly string[]): ScriptedStep => ({ text, hangs: true });

test("a reader who follows across two crashes sees every part once, and no text twice", async () => {
  const again = { text: ["said ", "whole"] };
  const middle = {
    ...say("half ", "again ", "lost-two"),
    once: "second-incarnation",
    later: again,
  };
  const first = { ...say("half ", "lost-one"), once: "first-incarnation", later: middle };
  const before: ScriptedStep = {
    text: ["Let me see. "],
    calls: [{ id: "w", name: "lab__pay", args: '{"what":"followed"}' }],
  };
  const response = await chat([before, first], "lab");
  const runId = runIdOf(response);
  const one = await readUntil("lost-one", response);
  await crash(runId);
  const two = await readUntil("lost-two", await follow(runId, one.lastId));
  await crash(runId);
  await changeDeadline(runId, "watchdog");
  await crash(runId);
  const three = await (await follow(runId, two.lastId)).text();
  const stored = await (await send(`/v1/runs/${runId}/events`, { caller: "lab" })).text();
  const message = await accumulate(withoutHeartbeats(one.text + two.text + three));
  expect(textsOf(message)).toEqual(["Let me see. ", "said whole"]);
  expect(textsOf(await accumulate(stored))).toEqual(["Let me see. ", "said whole"]);
  expect(message.parts.filter(({ type }) => type === "tool-call")).toHaveLength(1);
  expect(message.status).toMatchObject({ type: "complete", reason: "stop" });
  expectOnce(stored);
  expect(written).toEqual(["pay: followed"]);
});

/** Comments keep a connection open, and say nothing. */
function withoutHeartbeats(bytes: string): string {
  return bytes.replace(/^:.*\n\n/gm, "");
}

test("a call that ran when the object died is there once, with one result", async () => {
  const call = { id: "f", name: "lab__file", args: '{"what":"across","afterwards":"hold"}' };
  const response = await chat([{ text: ["Filing. "], calls: [call] }, { text: ["Filed."] }], "lab");
  const runId = runIdOf(response);
  const one = await readUntil("tool-call-args-text-finish", response);
  await expect.poll(() => written.length).toBe(1);
  await crash(runId);
  const rest = await (await follow(runId, one.lastId)).text();
  expectOnce(one.text + rest);
  const message = await accumulate(one.text + rest);
  expect(message.parts.map(({ type }) => type)).toEqual(["text", "tool-call", "text"]);
  expect(textsOf(message)).toEqual(["Filing. ", "Filed."]);
  expect((one.text + rest).match(/"type":"result"/g)).toHaveLength(1);
  expect(written).toEqual(["file: across"]);
});

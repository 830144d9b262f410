import { beforeAll, describe, expect, test } from "vitest";
import type { ScriptedStep } from "../fakes/scripted-model.ts";
import { sampleOfGroups } from "../shared/sample.ts";
import { chat, runIdOf, seedPolicies, send, splitEvents, stateOf } from "../shared/worker.ts";

beforeAll(seedPolicies);

const TIME = { name: "core__get_current_time", args: '{"timeZone":"Asia/Tokyo"}' };
/** Two tool steps and text: 60 events. */
const LONG: readonly ScriptedStep[] = [
  {
    text: Array.from({ length: 14 }, (_, index) => `a${index} `),
    calls: [TIME, { ...TIME, id: "call_1" }],
  },
  { calls: [{ ...TIME, id: "call_2" }] },
  { text: Array.from({ length: 25 }, (_, index) => `b${index} — ü "quoted" \n`) },
];

const resume = (runId: string, lastEventId?: string): Promise<Response> =>
  send(`/v1/runs/${runId}/events`, {
    caller: "acme",
    ...(lastEventId !== undefined && { headers: { "last-event-id": lastEventId } }),
  });

test("a finished run replays byte for byte from every event on", async () => {
  const first = await chat(LONG);
  const runId = runIdOf(first);
  const whole = await first.text();
  const events = splitEvents(whole);
  expect(events.length).toBe(60);
  expect(await (await resume(runId)).text()).toBe(whole);
  for (const [index, { id }] of events.slice(0, -1).entries()) {
    const rest = await (await resume(runId, id)).text();
    expect(rest).toBe(
      events
        .slice(index + 1)
        .map(({ text }) => text)
        .join(""),
    );
  }
});

/** Events after which a client leaves; a sample has some of each ten. */
const LEAVINGS = Array.from({ length: 59 }, (_, before) => before + 1);

test("a client that leaves at any event and returns gets the bytes of an uninterrupted one", async () => {
  for (const leaveAfter of sampleOfGroups(LEAVINGS, (at) => Math.floor(at / 10), 5)) {
    const response = await chat(LONG);
    const runId = runIdOf(response);
    const seen = await readEvents(response, leaveAfter);
    const last = seen.at(-1)?.id;
    const rest = await (await resume(runId, last)).text();
    const whole = await (await resume(runId)).text();
    expect(seen.map(({ text }) => text).join("") + withoutComments(rest)).toBe(whole);
  }
});

test("the loop goes on when the client leaves", async () => {
  const response = await chat(LONG);
  const runId = runIdOf(response);
  await response.body?.cancel();
  await (await resume(runId)).text();
  expect(await stateOf(runId)).toMatchObject({ status: "completed", steps: 3 });
});

test("several readers of a running run get the same bytes", async () => {
  const response = await chat(LONG);
  const runId = runIdOf(response);
  const others = await Promise.all([resume(runId), resume(runId), resume(runId)]);
  const texts = await Promise.all([response, ...others].map((reader) => reader.text()));
  expect(new Set(texts.map(withoutComments)).size).toBe(1);
});

test("a run has room for a number of readers, and the next one is told to wait", async () => {
  const response = await chat([{ text: ["hi"], hangs: true }]);
  const runId = runIdOf(response);
  const readers = await Promise.all(Array.from({ length: 127 }, () => resume(runId)));
  expect(readers.every(({ status }) => status === 200)).toBe(true);
  const refused = await resume(runId);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
  expect(await refused.json()).toMatchObject({ code: "too_many_readers" });
  await readers[0]?.body?.cancel();
  await expect.poll(async () => (await resume(runId)).status).toBe(200);
  await send(`/v1/runs/${runId}/cancel`, { caller: "acme", method: "POST" });
  await Promise.all([response.text(), ...readers.slice(1).map((reader) => reader.text())]);
});

test("nothing follows the last event", async () => {
  const response = await chat([{ text: ["hi"] }]);
  const events = splitEvents(await response.text());
  const after = await resume(runIdOf(response), events.at(-1)?.id);
  expect([after.status, await after.text()]).toEqual([204, ""]);
});

describe("answers a bad Last-Event-ID", () => {
  test.each([
    ["one that is no event id", "banana", 400, "event_id_invalid"],
    ["an empty one", "", 400, "event_id_invalid"],
    ["one with a minus", "0--1", 400, "event_id_invalid"],
    ["one with spaces and a line end", "0-1 0-2", 400, "event_id_invalid"],
    ["one of a hundred kilobytes", "9".repeat(100_000), 400, "event_id_invalid"],
    ["one that is not reached", "0-9999", 409, "event_id_unknown"],
    ["one of a recovery that never was", "7-1", 409, "event_id_unknown"],
  ])("%s", async (_name, lastEventId, status, code) => {
    const response = await chat([{ text: ["hi"] }]);
    await response.text();
    const answer = await resume(runIdOf(response), lastEventId);
    expect([answer.status, await answer.json()]).toEqual([
      status,
      expect.objectContaining({ code }),
    ]);
  });
});

test("an id of another run is a place in this one, or one that it never reached", async () => {
  const long = await chat(LONG);
  const foreign = splitEvents(await long.text()).map(({ id }) => id);
  const short = await chat([{ text: ["hi"] }]);
  const runId = runIdOf(short);
  const whole = splitEvents(await short.text());
  const reached = await resume(runId, foreign[2]);
  expect(await reached.text()).toBe(
    whole
      .slice(3)
      .map(({ text }) => text)
      .join(""),
  );
  expect((await resume(runId, foreign.at(-1))).status).toBe(409);
});

/** Reads a stream until it has seen so many events, then leaves. */
async function readEvents(
  response: Response,
  count: number,
): Promise<ReturnType<typeof splitEvents>> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    const whole = text.slice(0, text.lastIndexOf("\n\n") + 2);
    const ended = wholeEvents(whole);
    if (ended.length >= count) return ended.slice(0, count);
  }
  return wholeEvents(text);
}

function wholeEvents(text: string): ReturnType<typeof splitEvents> {
  const end = [...text.matchAll(/^id: .*\n\n/gm)].at(-1);
  return end ? splitEvents(text.slice(0, end.index + end[0].length)) : [];
}

function withoutComments(text: string): string {
  return text.replace(/^:.*\n\n/gm, "");
}

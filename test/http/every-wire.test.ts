import { describe, expect, test } from "vitest";
import { releaseUrl, type ScriptedStep } from "../fakes/scripted-model.ts";
import { changeDeadline, crash } from "../shared/run-object.ts";
import { APPROVE, callOf, decide, ended, openOf, useApprovalLab } from "../shared/people.ts";
import { sampleOfGroups } from "../shared/sample.ts";
import { EVERY_WIRE_AND_PAGE } from "../shared/deployment.ts";
import { chat, runIdOf, send, stateOf, type Caller } from "../shared/worker.ts";
import { lineWire } from "../fakes/line-wire.ts";

useApprovalLab();

/** Every wire that a reader of the test deployment may name; a new one joins here by itself. */
const WIRES = [
  ...new Map(
    [...EVERY_WIRE_AND_PAGE.wires.clients, lineWire].map((wire) => [wire.name, wire] as const),
  ).values(),
];

const TIME = { name: "core__get_current_time", args: '{"timeZone":"Asia/Tokyo"}' };
const NOTIFY = callOf("lab__notify", { what: "hello" });
const SEAT = callOf("lab__seat", { flight: "LH1" });
const AISLE = { decision: "answer", answer: { seat: "aisle" } };
/** How a run may go, and who asks for it. */
const SCENARIOS: Readonly<Record<string, readonly [Caller, ...ScriptedStep[]]>> = {
  "text and calls": [
    "acme",
    { text: ["a", "b"], calls: [TIME, { ...TIME, id: "call_1" }] },
    { text: ['ü "quoted" \n', "\n\nid: 0-1\n\n"] },
  ],
  "a call that a gate refuses": ["acme", { calls: [{ ...TIME, args: "{" }] }, { text: ["sorry"] }],
  "a provider that fails": ["acme", { text: ["half"], garbled: true }],
  "a call that people allow": ["ann", { calls: [NOTIFY] }, { text: ["done"] }],
  "a call that asks a question": ["ann", { calls: [SEAT] }, { text: ["done"] }],
};

const follow = async (
  { runId, caller }: { readonly runId: string; readonly caller: Caller },
  wire: string,
  lastEventId?: string,
): Promise<string> => {
  const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
  const response = await send(`/v1/runs/${runId}/events?wire=${wire}`, { caller, headers });
  // Not every wire calls itself text.
  return new TextDecoder().decode(await response.arrayBuffer());
};

/** Where each event of a stream ends, with its id: of frames, or of lines of JSON. */
const ENDS =
  /^id: (\d+)-(\d+)\n\n|^\{"id":"(\d+)-(\d+)".*\n|^\{.*"position":\{"epoch":(\d+),"seq":(\d+)\}.*\n/gm;
const endsOf = (stream: string): readonly { readonly id: string; readonly at: number }[] =>
  [...stream.matchAll(ENDS)].map((match) => ({
    id: match.slice(1).filter(Boolean).join("-"),
    at: match.index + match[0].length,
  }));

const play = async (name: string): Promise<{ runId: string; caller: Caller }> => {
  const [caller, ...steps] = SCENARIOS[name] ?? ["acme"];
  const response = await chat(steps, caller);
  const runId = runIdOf(response);
  await response.text();
  const [open] = openOf(await stateOf(runId, caller));
  if (open) await decide(open, caller, name.includes("question") ? AISLE : APPROVE);
  if (open) await ended(runId, caller);
  return { runId, caller };
};

describe.each(Object.keys(SCENARIOS))("%s", (scenario) => {
  test("is the same for a reader that leaves at any event and returns, on every wire", async () => {
    const run = await play(scenario);
    for (const { name } of WIRES) {
      const whole = await follow(run, name);
      const ends = endsOf(whole);
      expect([name, ends.length > 4]).toEqual([name, true]);
      for (const { id, at } of sampleOfGroups(ends.slice(0, -1), () => name, 3)) {
        expect([name, id, await follow(run, name, id)]).toEqual([name, id, whole.slice(at)]);
      }
    }
  });
});

test("a live answer is the same for a reader that left and returned, on every wire", async () => {
  const response = await chat([{ text: ["a", "b"], holds: "every-wire" }, { text: ["c"] }]);
  const run = { runId: runIdOf(response), caller: "acme" } as const;
  const readers = await Promise.all(
    WIRES.map(async ({ name }) => {
      const answer = await send(`/v1/runs/${run.runId}/events?wire=${name}`, { caller: "acme" });
      const reader = answer.body?.getReader();
      const first = new TextDecoder().decode((await reader?.read())?.value);
      await reader?.cancel();
      return { name, first: first.slice(0, endsOf(first).at(-1)?.at), last: endsOf(first).at(-1) };
    }),
  );
  await fetch(releaseUrl("every-wire"));
  await response.text();
  for (const { name, first, last } of readers) {
    const rest = await follow(run, name, last?.id);
    expect([name, first + rest]).toEqual([name, await follow(run, name)]);
  }
});

describe("an answer whose object dies twice", () => {
  const say = (...text: readonly string[]): ScriptedStep => ({ text, hangs: true });
  const LATER: ScriptedStep = { text: ["said ", "whole"] };
  const MIDDLE = { ...say("half ", "again ", "lost-two"), once: "every-wire-2", later: LATER };
  const FIRST = { ...say("half ", "lost-one"), once: "every-wire-1", later: MIDDLE };

  /** The frames of a stream by the id of their event. */
  const framesOf = (stream: string): ReadonlyMap<string, string> => {
    const ends = endsOf(stream);
    return new Map(
      ends.map(({ id, at }, index) => [id, stream.slice(ends[index - 1]?.at ?? 0, at)]),
    );
  };

  /** Reads on until the stream says a word, up to the last whole event. */
  const readUntil = async (word: string, at: Reading): Promise<Reading> => {
    const { runId, name, lastId } = at;
    const headers = lastId === "" ? {} : { "last-event-id": lastId };
    const answer = await send(`/v1/runs/${runId}/events?wire=${name}`, { caller: "acme", headers });
    const reader = answer.body?.getReader();
    const decoder = new TextDecoder();
    let seen = "";
    while (!seen.includes(word)) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done) throw new Error(`${name} ended before ${word}: ${seen}`);
      seen += decoder.decode(value as Uint8Array, { stream: true });
    }
    await reader?.cancel().catch(() => {});
    const last = endsOf(seen).at(-1);
    return { ...at, text: at.text + seen.slice(0, last?.at ?? 0), lastId: last?.id ?? lastId };
  };

  test("is whole, and no text of it is there twice, for a reader who follows on any wire", async () => {
    const response = await chat([{ text: ["Let me see. "], calls: [TIME] }, FIRST]);
    const runId = runIdOf(response);
    let readers = WIRES.map(({ name }): Reading => ({ runId, name, text: "", lastId: "" }));
    const all = (word: string) => Promise.all(readers.map((reader) => readUntil(word, reader)));
    readers = await all("lost-one");
    await crash(runId);
    readers = await all("lost-two");
    await crash(runId);
    await changeDeadline(runId, "watchdog");
    await crash(runId);
    for (const { name, text, lastId } of readers) {
      const rest = await follow({ runId, caller: "acme" }, name, lastId);
      const [followed, stored] = [text + rest, await follow({ runId, caller: "acme" }, name)];
      for (const word of ["Let me see. ", "said ", "whole"]) {
        const times = [followed, stored].map((stream) => deltasOf(stream, word));
        expect([name, word, times]).toEqual([name, word, [1, 1]]);
      }
      expect([name, /lost-(?:one|two)/.test(stored)]).toEqual([name, false]);
      // What both read is the same, the end included.
      const [live, late] = [framesOf(rest), framesOf(stored)];
      const shared = [...late.keys()].filter((id) => live.has(id));
      expect([name, shared.at(-1)]).toEqual([name, [...late.keys()].at(-1)]);
      for (const id of shared) expect([name, id, live.get(id)]).toEqual([name, id, late.get(id)]);
    }
    await response.body?.cancel().catch(() => {});
  });
});

/** How far a reader came on one wire. */
interface Reading {
  readonly runId: string;
  readonly name: string;
  readonly text: string;
  readonly lastId: string;
}

/** Counts the deltas that are this text. A protocol may repeat the whole text at its end. */
function deltasOf(stream: string, text: string): number {
  return stream.split(new RegExp(`"(?:delta|textDelta|content|text)":"${text}"`)).length - 1;
}

import { describe, expect, test } from "vitest";
import { releaseUrl, type ScriptedStep } from "../fakes/scripted-model.ts";
import { APPROVE, callOf, decide, ended, openOf, useApprovalLab } from "../shared/people.ts";
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
      for (const { id, at } of ends.slice(0, -1)) {
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

import { expect, test } from "vitest";
import { releaseUrl } from "../fakes/scripted-model.ts";
import { replayEachRun } from "../shared/replayed-runs.ts";
import {
  APPROVE,
  askFor,
  type Call,
  callOf,
  decide,
  ended,
  openOf,
  useApprovalLab,
  viewOf,
} from "../shared/people.ts";
import { untilState } from "../shared/run-object.ts";
import type { Caller } from "../shared/worker.ts";
import { moved, slow } from "../workers/lab-approvals.ts";

replayEachRun();

useApprovalLab();

/** Starts a run with a slow call, and decides another one while the slow one runs. */
async function decideMeanwhile(
  other: Call,
  [caller, decision]: readonly [Caller, object],
): Promise<string> {
  // A name that was released once holds nothing any more.
  const word = crypto.randomUUID();
  slow.add(word);
  const { runId } = await askFor([callOf("lab__notify", { what: word }), other]);
  const [first = "", second = ""] = openOf(await untilState(runId, { status: "waiting" }, "ann"));
  await decide(first, "ann", APPROVE);
  await expect.poll(() => moved).toEqual([`notified: ${word}`]);
  expect((await decide(second, caller, decision)).status).toBe(200);
  await fetch(releaseUrl(word));
  return runId;
}

test("an answer that comes while an earlier call runs is not lost", async () => {
  const seat = callOf("lab__seat", { flight: "LH1" }, "call_2");
  const answer = { decision: "answer", answer: { seat: "aisle" } };
  await ended(await decideMeanwhile(seat, ["ann", answer]));
  expect(moved.slice(1)).toEqual(["aisle on LH1"]);
});

test("a call that was edited while an earlier call runs is asked about as edited, and only so", async () => {
  const transfer = callOf("lab__transfer", { to: "bakery", amount: 40 }, "call_2");
  const edit = { ...APPROVE, arguments: { to: "bakery", amount: 25 } };
  const runId = await decideMeanwhile(transfer, ["bob", edit]);
  const [open = ""] = openOf(await untilState(runId, { status: "waiting" }, "ann"));
  expect(open).toMatch(/_2_2$/);
  expect(await viewOf(open, "bob")).toMatchObject({
    approvals: 1,
    packet: { arguments: { shown: { to: "bakery", amount: 25 } } },
  });
  await decide(open, "cat", APPROVE);
  await ended(runId);
  expect(moved.slice(1)).toEqual(["25 to bakery"]);
});

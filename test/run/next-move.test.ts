import { expect, test } from "vitest";
import { nextMove, type RunMove, type RunTrigger } from "../../src/run/next-move.ts";

const TRIGGERS: readonly RunTrigger[] = ["woken", "answered", "stopped", "watched"];
const ENDED: readonly RunMove[] = [
  "set_final_deadlines",
  "nothing",
  "nothing",
  "set_final_deadlines",
];

/** What is stored of a run, the loop of this incarnation, and the moves for all triggers. */
const ROWS: readonly (readonly [string, object, readonly RunMove[]])[] = [
  ["running", { isRunning: true }, ["nothing", "nothing", "stop_loop", "watch"]],
  ["stuck", { isRunning: true, isStuck: true }, ["nothing", "nothing", "stop_loop", "abandon"]],
  ["interrupted", {}, ["recover_in_new_epoch", "nothing", "recover_at_once", "recover"]],
  ["waiting", { isWaiting: true }, ["nothing", "relaunch", "relaunch", "end_watch"]],
  ["ended", { hasEnded: true }, ENDED],
  ["ended before its loop returned", { hasEnded: true, isRunning: true }, ENDED],
];

test.each(ROWS)("a run that is %s has a move for each trigger", (_phase, facts, moves) => {
  const none = { hasEnded: false, isWaiting: false, isRunning: false, isStuck: false };
  const { hasEnded, isWaiting, ...loop } = { ...none, ...facts };
  const stored = { epoch: 0, recoveries: 0, recoveredStep: 0, stop: null, isWaiting };
  const run = { journal: { hasEnded }, store: { incarnations: () => stored } };
  expect(TRIGGERS.map((trigger) => nextMove({ run, loop }, trigger))).toEqual(moves);
});

import { runInDurableObject } from "cloudflare:test";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { written } from "../workers/lab-writes.ts";
import {
  crash,
  deadlinesOf,
  ring,
  ringAlarm,
  rowsOf,
  stubOf,
  tellOutcome,
  untilState,
} from "../shared/run-object.ts";
import { releaseUrl, type ScriptedStep } from "../fakes/scripted-model.ts";
import { chat, runIdOf, seedPolicies, send, stateOf } from "../shared/worker.ts";

beforeAll(seedPolicies);
beforeEach(() => {
  written.length = 0;
});

const HANGS: ScriptedStep = { text: ["half"], hangs: true };

/** Starts a run and leaves it; its model call, or its tool, does not end by itself. */
async function start(...steps: readonly ScriptedStep[]): Promise<string> {
  const response = await chat(steps, "lab");
  const runId = runIdOf(response);
  await expect.poll(async () => (await stateOf(runId, "lab")).steps).toBe(1);
  await response.body?.cancel().catch(() => {});
  return runId;
}

/** Starts a run that died twice over one step, and is not to be taken up again for a minute. */
async function startBackingOff(): Promise<string> {
  const runId = await start(HANGS);
  await crash(runId);
  await untilState(runId, { recoveries: 1 });
  const soonMs = Date.now() + 60_000;
  await rowsOf(runId, `UPDATE deadlines SET at_ms = ${soonMs} WHERE name = 'watchdog'`);
  await crash(runId);
  return runId;
}

/** Waits until the model's first word is stored. */
const untilStreaming = (runId: string): Promise<void> =>
  expect
    .poll(() => rowsOf(runId, "SELECT 1 FROM events WHERE body LIKE '%text_started%'"))
    .toHaveLength(1);

/** Whether a run has ended, looked up without a request that would wake or help it. */
const endOf = async (runId: string): Promise<unknown> =>
  (await rowsOf(runId, "SELECT reason, error, recoveries FROM run"))[0];

describe("the wall clock", () => {
  // Mutant: the deadline is cleared and nobody is told.
  test("ends a run that streams", async () => {
    const runId = await start(HANGS);
    await expect.poll(() => deadlinesOf(runId)).toHaveProperty("wall_clock");
    await ring(runId, "wall_clock");
    await untilState(runId, { status: "failed", error: { code: "budget_exhausted" } });
  });

  test("ends a run that is dead", async () => {
    const runId = await start(HANGS);
    await expect.poll(() => deadlinesOf(runId)).toHaveProperty("wall_clock");
    await rowsOf(runId, "UPDATE deadlines SET at_ms = 1 WHERE name = 'wall_clock'");
    await crash(runId);
    await ringAlarm(runId);
    await expect.poll(() => endOf(runId)).toMatchObject({ reason: "error" });
    expect(await stateOf(runId, "lab")).toMatchObject({ error: { code: "budget_exhausted" } });
  });

  // Mutant: pause or resume left out.
  test("stands still while a run waits for an operator, and goes on after", async () => {
    const doubtful = { id: "p", name: "lab__pay", args: '{"what":"clock","afterwards":"break"}' };
    const slow = { id: "w", name: "lab__watch", args: '{"what":"clock-slow","afterwards":"hold"}' };
    const runId = await start({ calls: [doubtful] }, { calls: [slow] }, { text: ["end"] });
    await untilState(runId, { status: "waiting" });
    expect(await deadlinesOf(runId)).toMatchObject({ wall_clock: null });
    await rowsOf(runId, "UPDATE deadlines SET left_ms = 77000 WHERE name = 'wall_clock'");
    await tellOutcome(runId, { body: { outcome: "committed" } });
    await untilState(runId, { steps: 2 });
    const { wall_clock } = await deadlinesOf(runId);
    const leftMs = Number(wall_clock) - Date.now();
    expect(leftMs).toBeGreaterThan(60_000);
    expect(leftMs).toBeLessThanOrEqual(77_000);
    await fetch(releaseUrl("clock-slow"));
    await untilState(runId, { status: "completed" });
  });
});

describe("the watchdog", () => {
  test("carries a dead run to its end, without a request", async () => {
    const runId = await start({ ...HANGS, once: "watchdog", later: { text: ["whole"] } });
    await untilStreaming(runId);
    await crash(runId);
    await ringAlarm(runId);
    await expect.poll(() => endOf(runId)).toMatchObject({ reason: "stop", recoveries: 1 });
  });

  // Mutant: no limit of recoveries.
  test("gives up a run that dies again and again: it ends, and says why", async () => {
    const runId = await start(HANGS);
    for (let life = 0; life < 6; life++) {
      await crash(runId);
      // The time to back off has passed.
      await ring(runId, "watchdog");
    }
    await expect.poll(() => endOf(runId)).toMatchObject({ reason: "error" });
    expect(await stateOf(runId, "lab")).toMatchObject({
      status: "failed",
      error: { code: "interrupted" },
    });
    const events = await (await send(`/v1/runs/${runId}/events`, { caller: "lab" })).text();
    expect(events.match(/"type":"done"/g)).toHaveLength(1);
    expect(events.match(/"type":"part-start"/g)?.length).toBe(
      events.match(/"type":"part-finish"/g)?.length,
    );
  });

  // Mutant: a wake that recovers whenever it happens.
  test("lets time pass between two recoveries that brought nothing", async () => {
    const runId = await startBackingOff();
    const calls = async (): Promise<unknown> =>
      (await rowsOf(runId, "SELECT facts FROM run"))[0]?.["facts"];
    const before = await calls();
    expect(await stateOf(runId, "lab")).toMatchObject({ status: "running" });
    expect(await calls()).toBe(before);
    expect(await endOf(runId)).toMatchObject({ recoveries: 1 });
    await ring(runId, "watchdog");
    await expect.poll(() => endOf(runId)).toMatchObject({ recoveries: 2 });
  });

  // Mutants: endInterrupted closes nothing; it answers nothing.
  test("ends a run that no loop can end: each call has an end, each part is closed", async () => {
    const call = { id: "p", name: "lab__pay", args: '{"what":"poison","afterwards":"hold"}' };
    const runId = await start({ text: ["half"], calls: [call] });
    await expect.poll(() => written.length).toBe(1);
    await rowsOf(runId, "UPDATE run SET recoveries = 6, stop = 'interrupted'");
    await crash(runId);
    await ring(runId, "watchdog");
    await expect.poll(() => endOf(runId)).toMatchObject({ reason: "error", recoveries: 7 });
    expect(await stateOf(runId, "lab")).toMatchObject({
      error: { code: "interrupted" },
      toolCalls: [{ state: "EXPIRED" }],
    });
    const said = await rowsOf(runId, "SELECT body FROM messages ORDER BY seq");
    expect(JSON.parse(said.at(-1)?.["body"] as string)).toMatchObject({
      role: "tool",
      toolCallId: "p",
    });
    expect(written).toEqual(["pay: poison"]);
  });

  // Mutant: endInterrupted leaves the text open, and a reader of the stream hangs on it.
  test("ends a run that no loop can end in the middle of a text: the text is closed", async () => {
    const runId = await start(HANGS);
    await untilStreaming(runId);
    await rowsOf(runId, "UPDATE run SET recoveries = 6, stop = 'interrupted'");
    await crash(runId);
    await ring(runId, "watchdog");
    await expect.poll(() => endOf(runId)).toMatchObject({ reason: "error", recoveries: 7 });
    const events = await (await send(`/v1/runs/${runId}/events`, { caller: "lab" })).text();
    expect(events.match(/"type":"part-(start|finish)"/g)).toHaveLength(2);
  });
});

// Mutant: alarm lets a throw through, or does not arm itself again.
test("an alarm that fails is armed again", async () => {
  const runId = await start(HANGS);
  const at = await runInDurableObject(stubOf(runId), async (object, state) => {
    state.storage.sql.exec("ALTER TABLE deadlines RENAME COLUMN at_ms TO gone");
    await state.storage.deleteAlarm();
    await (object as unknown as { alarm(): Promise<void> }).alarm();
    const alarm = await state.storage.getAlarm();
    state.storage.sql.exec("ALTER TABLE deadlines RENAME COLUMN gone TO at_ms");
    return alarm;
  });
  expect(at).toBeGreaterThan(Date.now());
});

// Mutant: what fails while the object wakes keeps it from answering, or leaves it without an alarm.
test("a run that cannot be taken up answers all the same, and is tried again", async () => {
  const runId = await start(HANGS);
  await untilStreaming(runId);
  await rowsOf(runId, "UPDATE events SET body = '{'");
  await runInDurableObject(stubOf(runId), (_object, state) => state.storage.deleteAlarm());
  await crash(runId);
  expect(await stateOf(runId, "lab")).toMatchObject({ status: "running" });
  const at = await runInDurableObject(stubOf(runId), (_object, state) => state.storage.getAlarm());
  expect(at).toBeGreaterThan(Date.now());
});

// Mutant: wake begins no epoch while it backs off.
test("a reader who saw what a crash lost goes on, even while the run backs off", async () => {
  const runId = await startBackingOff();
  await untilState(runId, { status: "running", recoveries: 2 });
  const response = await send(`/v1/runs/${runId}/events`, {
    caller: "lab",
    headers: { "last-event-id": "1-99999" },
  });
  expect(response.status).toBe(200);
  await response.body?.cancel();
});

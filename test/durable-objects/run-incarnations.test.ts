import { runInDurableObject } from "cloudflare:test";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { written } from "../workers/lab-writes.ts";
import {
  changeDeadline,
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

/** Starts a run and closes its stream. The model call or the tool does not end by itself. */
async function start(...steps: readonly ScriptedStep[]): Promise<string> {
  const response = await chat(steps, "lab");
  const runId = runIdOf(response);
  await expect.poll(async () => (await stateOf(runId, "lab")).steps).toBe(1);
  await response.body?.cancel().catch(() => {});
  return runId;
}

/** Starts a run that crashed twice in one step, and whose next recovery is a minute away. */
async function startBackingOff(): Promise<string> {
  const runId = await start(HANGS);
  await crash(runId);
  await untilState(runId, { recoveries: 1 });
  const soonMs = Date.now() + 60_000;
  await changeDeadline(runId, "watchdog", { atMs: soonMs });
  await crash(runId);
  return runId;
}

/** Waits until the first text of the model is stored. */
const untilStreaming = (runId: string): Promise<void> =>
  expect
    .poll(() => rowsOf(runId, "SELECT 1 FROM events WHERE body LIKE '%text_started%'"))
    .toHaveLength(1);

/** Reads the end of a run from its tables, without a request that could recover the run. */
const endOf = async (runId: string): Promise<unknown> =>
  (await rowsOf(runId, "SELECT reason, error, recoveries FROM run, progress"))[0];

describe("the wall clock", () => {
  test("ends a run that streams", async () => {
    const runId = await start(HANGS);
    await expect.poll(() => deadlinesOf(runId)).toHaveProperty("wall_clock");
    await ring(runId, "wall_clock");
    await untilState(runId, { status: "failed", error: { code: "budget_exhausted" } });
  });

  test("ends a run whose loop is dead", async () => {
    const runId = await start(HANGS);
    await expect.poll(() => deadlinesOf(runId)).toHaveProperty("wall_clock");
    await changeDeadline(runId, "wall_clock");
    await crash(runId);
    await ringAlarm(runId);
    await expect.poll(() => endOf(runId)).toMatchObject({ reason: "error" });
    expect(await stateOf(runId, "lab")).toMatchObject({ error: { code: "budget_exhausted" } });
  });

  test("stops while a run waits for an operator, and continues afterwards", async () => {
    const unknownCall = {
      id: "p",
      name: "lab__pay",
      args: '{"what":"clock","afterwards":"break"}',
    };
    const slow = { id: "w", name: "lab__watch", args: '{"what":"clock-slow","afterwards":"hold"}' };
    const runId = await start({ calls: [unknownCall] }, { calls: [slow] }, { text: ["end"] });
    await untilState(runId, { status: "waiting" });
    expect(await deadlinesOf(runId)).toMatchObject({ wall_clock: null });
    await changeDeadline(runId, "wall_clock", { leftMs: 77_000 });
    await crash(runId);
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
  test("recovers a dead run without a request", async () => {
    const runId = await start({ ...HANGS, once: "watchdog", later: { text: ["whole"] } });
    await untilStreaming(runId);
    await crash(runId);
    await ringAlarm(runId);
    await expect.poll(() => endOf(runId)).toMatchObject({ reason: "stop", recoveries: 1 });
  });

  test("ends a run that crashes again and again, with the reason", async () => {
    const runId = await start(HANGS);
    for (let crashes = 0; crashes < 6; crashes++) {
      await crash(runId);
      // The backoff is over.
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

  test("waits between two recoveries that finished no step", async () => {
    const runId = await startBackingOff();
    const calls = async (): Promise<unknown> =>
      (await rowsOf(runId, "SELECT facts FROM progress"))[0]?.["facts"];
    const before = await calls();
    expect(await stateOf(runId, "lab")).toMatchObject({ status: "running" });
    expect(await calls()).toBe(before);
    expect(await endOf(runId)).toMatchObject({ recoveries: 1 });
    await ring(runId, "watchdog");
    await expect.poll(() => endOf(runId)).toMatchObject({ recoveries: 2 });
  });

  test("ends a run that no loop can end, and closes its calls and parts", async () => {
    const call = { id: "p", name: "lab__pay", args: '{"what":"poison","afterwards":"hold"}' };
    const runId = await start({ text: ["half"], calls: [call] });
    await expect.poll(() => written.length).toBe(1);
    await rowsOf(runId, "UPDATE log SET recoveries = 6, stop = 'interrupted'");
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

  test("ends a run that no loop can end, and closes its open text", async () => {
    const runId = await start(HANGS);
    await untilStreaming(runId);
    await rowsOf(runId, "UPDATE log SET recoveries = 6, stop = 'interrupted'");
    await crash(runId);
    await ring(runId, "watchdog");
    await expect.poll(() => endOf(runId)).toMatchObject({ reason: "error", recoveries: 7 });
    const events = await (await send(`/v1/runs/${runId}/events`, { caller: "lab" })).text();
    expect(events.match(/"type":"part-(start|finish)"/g)).toHaveLength(2);
  });
});

test("an alarm that fails is set again", async () => {
  const runId = await start(HANGS);
  const at = await runInDurableObject(stubOf(runId), async (object, state) => {
    state.storage.sql.exec("ALTER TABLE log RENAME COLUMN deadlines TO gone");
    await state.storage.deleteAlarm();
    await (object as unknown as { alarm(): Promise<void> }).alarm();
    const alarm = await state.storage.getAlarm();
    state.storage.sql.exec("ALTER TABLE log RENAME COLUMN gone TO deadlines");
    return alarm;
  });
  expect(at).toBeGreaterThan(Date.now());
});

test("a run that cannot be recovered still answers, and is recovered later", async () => {
  const runId = await start(HANGS);
  await untilStreaming(runId);
  await rowsOf(runId, "UPDATE log SET body = '{' WHERE seq = (SELECT max(seq) FROM log)");
  await runInDurableObject(stubOf(runId), (_object, state) => state.storage.deleteAlarm());
  await crash(runId);
  expect(await stateOf(runId, "lab")).toMatchObject({ status: "running" });
  const at = await runInDurableObject(stubOf(runId), (_object, state) => state.storage.getAlarm());
  expect(at).toBeGreaterThan(Date.now());
});

test("a reader that saw lost events resumes, even while the run backs off", async () => {
  const runId = await startBackingOff();
  await untilState(runId, { status: "running", recoveries: 2 });
  const response = await send(`/v1/runs/${runId}/events`, {
    caller: "lab",
    headers: { "last-event-id": "1-99999" },
  });
  expect(response.status).toBe(200);
  await response.body?.cancel();
});

import { runInDurableObject } from "cloudflare:test";
import { beforeAll, expect, test } from "vitest";
import { written } from "../workers/lab-writes.ts";
import { crash, stubOf, untilState } from "../shared/run-object.ts";
import { releaseUrl } from "../fakes/scripted-model.ts";
import { sampleOfGroups } from "../shared/sample.ts";
import { chat, runIdOf, seedPolicies, send, stateOf } from "../shared/worker.ts";

beforeAll(seedPolicies);

const ALL_ROUNDS = Array.from({ length: 50 }, (_, round) => round);
/** The alarm of a round fails one to seven times. A sample takes one round of each number. */
const ROUNDS = sampleOfGroups(ALL_ROUNDS, (round) => round % 7, 10);

/**
 * Rings a run's alarm at once, with a due watchdog; resolves when the alarm has returned.
 */
function ringNow(runId: string): Promise<void> {
  return runInDurableObject(stubOf(runId), async (object, { storage }) => {
    storage.sql.exec(
      "UPDATE log SET deadlines = json_replace(deadlines, '$.watchdog', json('{\"atMs\":1}'))",
    );
    await (object as unknown as { alarm(): Promise<void> }).alarm();
  });
}

/** Makes this many alarms fail, as broken storage would. */
function ringBrokenAlarm(runId: string, times: number): Promise<void> {
  return runInDurableObject(stubOf(runId), async (object, { storage }) => {
    storage.sql.exec("ALTER TABLE log RENAME TO gone");
    for (let time = 0; time < times; time++) {
      await (object as unknown as { alarm(): Promise<void> }).alarm();
      expect(await storage.getAlarm()).toBeGreaterThan(Date.now());
    }
    storage.sql.exec("ALTER TABLE gone RENAME TO log");
  });
}

const WAYS: Readonly<Record<string, (runId: string, round: number) => Promise<unknown>>> = {
  "fires twice": (runId) => Promise.all([ringNow(runId), ringNow(runId)]),
  "throws one to seven times": async (runId, round) => {
    await ringBrokenAlarm(runId, 1 + (round % 7));
    await ringNow(runId);
  },
  "races requests": (runId) =>
    Promise.all([
      ringNow(runId),
      stateOf(runId, "lab"),
      send(`/v1/runs/${runId}/events`, { caller: "lab" }).then(({ body }) => body?.cancel()),
      ringNow(runId),
    ]),
};

test.each(Object.entries(WAYS))(
  "an alarm that %s repeats no effect and ends each run once",
  { timeout: 120_000 },
  async (way, disturb) => {
    for (const round of ROUNDS) {
      const what = `${way.split(" ", 1)[0]}-${round}`;
      const call = { name: "lab__pay", args: JSON.stringify({ what, afterwards: "hold" }) };
      const response = await chat([{ calls: [call] }, { text: ["paid"] }], "lab");
      const runId = runIdOf(response);
      await expect.poll(() => written, { interval: 2 }).toContain(`pay: ${what}`);
      await Promise.all([crash(runId), response.text().catch(() => {})]);
      await disturb(runId, round);
      await untilState(runId, { status: "waiting" });
      const answer = await send(`/v1/runs/${runId}/invocations/inv_1/outcome`, {
        caller: "lab",
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"outcome":"committed"}',
      });
      expect(answer.status).toBe(200);
      await untilState(runId, { status: "completed", toolCalls: [{ state: "COMPLETED" }] });
      const stream = await (await send(`/v1/runs/${runId}/events`, { caller: "lab" })).text();
      expect(stream.match(/"type":"done"/g)).toHaveLength(1);
      expect(stream.match(/"type":"result"/g)).toHaveLength(1);
      expect(written.filter((effect) => effect === `pay: ${what}`)).toHaveLength(1);
      await fetch(releaseUrl(what));
    }
  },
);

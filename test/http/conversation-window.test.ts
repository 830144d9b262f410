import { runInDurableObject } from "cloudflare:test";
import { env, waitUntil } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { seededRandom } from "../../scripts/chaos/seeded-random.ts";
import { composeWorker } from "../../src/compose/worker.ts";
import type { RawEnv } from "../../src/env.ts";
import type { HistoryReference } from "../../src/protocol/conversation/turn.ts";
import { releaseUrl, type ScriptedStep } from "../fakes/scripted-model.ts";
import { putAssistant } from "../shared/assistants.ts";
import { finish, say, untilKept, untilSaid } from "../shared/conversations.ts";
import { callOf } from "../shared/people.ts";
import { meterBindings, meterNextRun, type HopCosts } from "../shared/run-meter.ts";
import { crash, stubOf, untilState } from "../shared/run-object.ts";
import { TOKENS } from "../shared/tokens.ts";
import { govern, runIdOf, seedPolicies, send, type Caller } from "../shared/worker.ts";
import { currentLab } from "../workers/lab-deployment.ts";
import { page } from "../workers/lab-tools.ts";

beforeAll(seedPolicies);
beforeEach(() => {
  page.text = "word ".repeat(2_000);
});

describe("an assistant with a rule for its history", () => {
  const caller = "archive";
  const call = (at: number) => callOf("lab__read_page", { url: `${at}` }, `read_${at}`);
  const model = "scripted-r";

  /** A chat of so many turns, each of which reads a long page and reasons. */
  async function talk(turns: number): Promise<string> {
    let conversationId: string | undefined;
    for (let at = 0; at < turns; at++) {
      const steps = [{ reasoning: `sealed-${at}`, calls: [call(at)] }, { text: [`told ${at}`] }];
      const place = conversationId === undefined ? {} : { conversationId };
      ({ conversationId } = await finish({ caller, steps, model, assistantId: "brief", ...place }));
    }
    return conversationId ?? "";
  }

  async function look(conversationId: string, steps: readonly ScriptedStep[]) {
    const asked = { caller, conversationId, model, assistantId: "brief", steps } as const;
    const { runId, text: seen } = await finish(asked);
    const context = await send(`/v1/runs/${runId}/context`, { caller });
    const { history } = await context.json<{ history: HistoryReference }>();
    return { seen, history };
  }

  test("shows the newest turns whole, shortens results of older ones, and leaves out the rest", async () => {
    await putAssistant("brief", { history: { wholeTurns: 2, maxTurns: 4 } }, caller);
    const conversationId = await talk(6);
    const { seen, history } = await look(conversationId, [{ shows: true }]);
    expect(history).toMatchObject({ turns: 4, shortened: 2, leftOut: 2 });
    expect(history.sources).toMatchObject([{ kind: "tool", tool: "lab__read_page" }]);
    const told = [0, 1, 2, 3, 4, 5].map((at) => [
      seen.includes(`told ${at}`),
      seen.includes(`SEALED-${at}`),
    ]);
    const [out, short, whole] = [
      [false, false],
      [true, false],
      [true, true],
    ];
    expect(told).toEqual([out, out, short, short, whole, whole]);
    expect(seen.split("[truncated]")).toHaveLength(3);
    expect(seen.split("word ".repeat(2_000))).toHaveLength(3);
    expect(seen.split("Only a part of this earlier result is shown.")).toHaveLength(3);
  });

  test("counts what older turns take once they are shortened", async () => {
    await govern({ allowedTools: ["lab__read_page"], budgets: { maxHistoryBytes: 30_000 } });
    const own = { caller: "bendable", assistantId: "short" } as const;
    const places = [];
    for (const history of [undefined, { wholeTurns: 1 }]) {
      await putAssistant("short", { ...(history && { history }) }, own.caller);
      const { conversationId } = await finish({ ...own, steps: [{ calls: [call(0)] }] });
      for (let at = 1; at < 5; at++) {
        await finish({ ...own, conversationId, steps: [{ calls: [call(at)] }] });
      }
      const { runId } = await finish({ ...own, conversationId });
      const context = await send(`/v1/runs/${runId}/context`, { caller: own.caller });
      places.push((await context.json<{ history: HistoryReference }>()).history);
    }
    expect(places).toMatchObject([
      { turns: 2, shortened: 0, leftOut: 3 },
      { turns: 5, shortened: 4, leftOut: 0 },
    ]);
  });

  test("goes on from the same beginning for some turns, and a crash changes nothing of it", async () => {
    await putAssistant("brief", { history: { wholeTurns: 2 } }, caller);
    const conversationId = await talk(4);
    const places = [];
    for (let at = 0; at < 3; at++) places.push((await look(conversationId, [])).history.shortened);
    expect(places).toEqual([2, 2, 4]);
    const steps = [{ text: ["first"], holds: "short", once: "short", later: { shows: true } }];
    const held = await say({ caller, conversationId, model, assistantId: "brief", steps });
    await untilSaid(held, "first");
    await putAssistant("brief", {}, caller);
    await crash(runIdOf(held));
    await untilState(runIdOf(held), { status: "completed" }, caller);
    const events = await send(`/v1/runs/${runIdOf(held)}/events`, { caller });
    expect((await events.text()).split("[truncated]")).toHaveLength(5);
    await fetch(releaseUrl("short"));
  });
});

const LAST = 100;

test("turn 100 stores and asks what turn 2 does: no more rows, bytes, commits and hops", async () => {
  const worker: HopCosts = { objectCalls: 0, kvReads: 0 };
  const metered = meterBindings(env as unknown as RawEnv, worker);
  const handle = composeWorker(metered, currentLab().deployment, waitUntil);
  let conversationId: string | undefined;
  const post = async (turn: number): Promise<void> => {
    const messages = [{ role: "user", content: saying(turn) }];
    const answer = await handle(
      chatRequest({ messages, ...(conversationId && { conversationId }) }),
    );
    await answer.text();
    conversationId ??= runIdOf(answer);
  };
  /** What a turn costs the Worker and its run, and what the conversation keeps by then. */
  const measure = async (turn: number) => {
    Object.assign(worker, { objectCalls: 0, kvReads: 0 });
    const run = meterNextRun();
    await post(turn);
    await untilKept(conversationId ?? "", turn);
    const kept = await runInDurableObject(stubOf(conversationId ?? ""), (_object, { storage }) => ({
      page: storage.sql
        .exec<{ bytes: number }>(
          `SELECT sum(length(body)) AS bytes FROM pages WHERE number = ${turn}`,
        )
        .one().bytes,
      all: storage.sql.databaseSize,
    }));
    const { rowsWritten, commits, alarms, objectCalls, kvReads, bytes } = run;
    const counts = { rowsWritten, commits, alarms, objectCalls, kvReads, worker: { ...worker } };
    return { counts, bytes, kept };
  };
  await post(1);
  const second = await measure(2);
  for (let turn = 3; turn < LAST; turn++) await post(turn);
  await untilKept(conversationId ?? "", LAST - 1);
  const last = await measure(LAST);
  expect(last.counts).toEqual(second.counts);
  expect(last.bytes).toBeLessThanOrEqual(1.1 * second.bytes);
  expect(last.kept.page).toBeLessThanOrEqual(1.1 * second.kept.page);
  // The row of a turn, and what SQLite leaves free.
  const ofRow = 600;
  const added = (last.kept.all - second.kept.all) / (LAST - 2);
  expect(added).toBeLessThanOrEqual(1.1 * (second.kept.page + ofRow));
});

test("another's conversation costs the Worker the hops and reads of an invented one", async () => {
  const worker: HopCosts = { objectCalls: 0, kvReads: 0 };
  const metered = meterBindings(env as unknown as RawEnv, worker);
  const handle = composeWorker(metered, currentLab().deployment, waitUntil);
  const { conversationId, runId } = await finish();
  const cost = async (body: object, caller: Caller) => {
    const messages = [{ role: "user", content: saying(1) }];
    Object.assign(worker, { objectCalls: 0, kvReads: 0 });
    const { status } = await handle(chatRequest({ messages, ...body }, caller));
    return { status, ...worker };
  };
  for (const caller of ["rival", "peer"] as const) {
    await (
      await handle(chatRequest({ messages: [{ role: "user", content: "x" }] }, caller))
    ).text();
    const invented = conversationId.replace(/.{4}$/, "0000");
    expect(await cost({ conversationId }, caller)).toEqual(
      await cost({ conversationId: invented }, caller),
    );
    expect(await cost({ parentId: runId }, caller)).toEqual(
      await cost({ parentId: invented }, caller),
    );
  }
});

/** A thousand characters that compress badly, and an answer of as many. */
function saying(turn: number): string {
  const random = seededRandom(turn);
  const word = (): string => random.below(2 ** 30).toString(36);
  const text = (): string => Array.from({ length: 200 }, word).join(" ").slice(0, 1_000);
  return JSON.stringify({ steps: [{ text: [text()] }], said: text() });
}

function chatRequest(body: object, caller: Caller = "acme"): Request {
  return new Request("https://interlock.test/v1/chat", {
    method: "POST",
    headers: {
      authorization: `Bearer ${TOKENS[caller].token}`,
      "content-type": "application/json",
    },
    body: JSON.stringify(body),
  });
}

import { runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, test } from "vitest";
import type { HistoryReference } from "../../src/protocol/conversation/turn.ts";
import { releaseUrl, type ScriptedStep } from "../fakes/scripted-model.ts";
import { putAssistant } from "../shared/assistants.ts";
import { finish, say, untilKept, untilSaid } from "../shared/conversations.ts";
import { callOf } from "../shared/people.ts";
import { crash, stubOf, untilState } from "../shared/run-object.ts";
import { runIdOf, seedPolicies, send } from "../shared/worker.ts";
import { page } from "../workers/lab-tools.ts";

beforeAll(seedPolicies);

describe("an assistant with a rule for its history", () => {
  const caller = "archive";
  const call = (at: number) => callOf("lab__read_page", { url: `${at}` }, `read_${at}`);
  const model = "scripted-r";

  /** A chat of so many turns, each of which reads a long page and reasons. */
  async function talk(turns: number): Promise<string> {
    page.text = "word ".repeat(2_000);
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

test("turn 40 stores what it says: no more rows and bytes than turn 2", async () => {
  const pad = "x".repeat(1_000);
  const sizeOf = (runId: string): Promise<number> =>
    runInDurableObject(stubOf(runId), (_object, { storage }) => storage.sql.databaseSize);
  const { conversationId } = await finish({ content: pad, steps: [] });
  const added: number[] = [];
  const sizes: number[] = [await sizeOf(conversationId)];
  for (let turn = 2; turn <= 40; turn++) {
    const { runId } = await finish({ conversationId, steps: [{ text: [`${turn}`], times: 500 }] });
    await untilKept(conversationId, turn);
    added.push(await sizeOf(runId));
    sizes.push(await sizeOf(conversationId));
  }
  expect(Math.max(...added)).toBeLessThanOrEqual(1.1 * (added[0] ?? 0));
  const [, second = 0] = sizes;
  const average = ((sizes.at(-1) ?? 0) - second) / 38;
  expect(average).toBeLessThan(2_000);
});

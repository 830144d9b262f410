import { runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, test } from "vitest";
import type { ConversationMethods } from "../../src/capabilities/conversation.ts";
import type { DeliveredPage } from "../../src/protocol/conversation/turn.ts";
import type { RunId } from "../../src/protocol/identity/ids.ts";
import { releaseUrl } from "../fakes/scripted-model.ts";
import { finish, say, untilKept } from "../shared/conversations.ts";
import {
  planIncarnation,
  type CrashPlan,
  type PlannedIncarnation,
} from "../shared/crash-points.ts";
import { image, SEES, text } from "../shared/file-messages.ts";
import { dataUrl } from "../shared/files.ts";
import { callOf } from "../shared/people.ts";
import {
  changeInvocation,
  changeTurns,
  LOSE_PAGE_2,
  crash,
  refusalOf,
  ring,
  rowsOf,
  stubOf,
} from "../shared/run-object.ts";
import { sampleOfGroups } from "../shared/sample.ts";
import { tenantOf } from "../shared/tenant-notices.ts";
import { dump } from "../shared/traces.ts";
import {
  bindings,
  govern,
  runIdOf,
  seedPolicies,
  send,
  stateOf,
  type Caller,
} from "../shared/worker.ts";

beforeAll(seedPolicies);

const remove = (id: string, caller: Caller = "acme"): Promise<Response> =>
  send(`/v1/conversations/${id}`, { caller, method: "DELETE" });

/** Deletes a conversation, and asks again until nothing is left. */
async function erase(id: string, caller: Caller = "acme"): Promise<void> {
  await expect
    .poll(async () => (await remove(id, caller).catch(() => undefined))?.status, {
      timeout: 20_000,
    })
    .toBe(200);
}

const CANARY = "canary-4711";

const LATE_PAGE: DeliveredPage = {
  page: {
    messages: [{ role: "user", text: CANARY }],
    shown: { runId: "run" as RunId, status: "completed", createdAt: "", messages: [] },
    endedMs: 1,
  },
  files: {},
};

/** A chat with everything that could leave a trace: a key, a title, a call, a file and a name. */
async function leaveTraces(): Promise<{ conversationId: string; runIds: readonly string[] }> {
  const title = callOf("core__generate_title", { title: `About ${CANARY}` });
  const steps = [{ calls: [title] }, { text: [CANARY] }];
  const first = await finish({ steps, key: crypto.randomUUID() });
  const { conversationId } = first;
  const picture = image(dataUrl("image/png", btoa(`\x89PNG\r\n\x1a\n${CANARY}`)));
  const content = [text(JSON.stringify({ steps: [{ text: [CANARY] }] })), picture];
  const key = crypto.randomUUID();
  const second = await finish({ conversationId, content, model: SEES, key, messageId: CANARY });
  const third = await finish({ conversationId, parentId: first.runId, content: CANARY });
  await untilKept(conversationId, 3);
  await send(`/v1/conversations/${conversationId}`, {
    caller: "acme",
    method: "PATCH",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ title: `Named ${CANARY}` }),
  });
  return { conversationId, runIds: [first.runId, second.runId, third.runId] };
}

/** Looks for the canary in every object, list and record of a chat. */
async function findTraces(runIds: readonly string[]): Promise<readonly string[]> {
  const places = new Map<string, string>();
  for (const runId of runIds) {
    places.set(`object of ${runId}`, await dump(stubOf(runId)));
    places.set(`record of ${runId}`, (await bindings.IDEMPOTENCY.get(`run/${runId}`)) ?? "");
  }
  for (const list of ["/v1/conversations?limit=100", "/v1/runs?limit=100"]) {
    places.set(list, await (await send(list, { caller: "acme" })).text());
  }
  const rows = await runInDurableObject(tenantOf("acme"), (_object, { storage: { sql } }) =>
    ["runs", "conversations", "approvals"].map((name) =>
      sql.exec(`SELECT * FROM ${name}`).toArray(),
    ),
  );
  places.set("the tenant's lists", JSON.stringify(rows));
  return [...places].flatMap(([place, found]) => (found.includes(CANARY) ? [place] : []));
}

/** Before a write, after it but lost with the object, and after it has lasted. */
const MODES = ["before", "after", "durable"] as const;

/** Deletes a chat. The object of one of its runs ends as planned meanwhile. */
async function dieWhileDeleted(
  which: "first" | "second",
  plan: CrashPlan,
): Promise<PlannedIncarnation> {
  const { conversationId, runIds } = await leaveTraces();
  const dies = which === "first" ? conversationId : String(runIds[1]);
  await crash(dies);
  const objectId = bindings.RUNS.idFromName(dies).toString();
  const incarnation = planIncarnation({ ...plan, objectId });
  // Who asked hears how far it is, or that a run did not answer: nothing is broken.
  expect([200, 202, 409]).toContain((await remove(conversationId)).status);
  // What it has to tell the tenant would wait some seconds.
  if (plan.mode === "durable") await crash(dies).then(() => ring(dies, "outbox"));
  await erase(conversationId);
  await expect.poll(() => findTraces(runIds)).toEqual([]);
  return incarnation;
}

describe("a deleted conversation", () => {
  test("leaves nothing that was said in any object, record or list, and stays deleted", async () => {
    const { conversationId, runIds } = await leaveTraces();
    await expect.poll(() => findTraces(runIds)).not.toHaveLength(0);
    await erase(conversationId);
    await expect.poll(() => findTraces(runIds)).toEqual([]);
    expect(await rowsOf(conversationId, "SELECT tables FROM log WHERE seq = 0")).toEqual([
      { tables: "erasure" },
    ]);
    for (const path of ["", "/messages", "/export"]) {
      const answer = await send(`/v1/conversations/${conversationId}${path}`, { caller: "acme" });
      expect(await refusalOf(answer)).toEqual([410, "conversation_erased"]);
    }
    for (const named of [{ conversationId }, { previousRunId: conversationId }]) {
      expect(await refusalOf(await say(named))).toEqual([410, "conversation_erased"]);
    }
    // A page that was on its way.
    const object = stubOf(conversationId) as unknown as ConversationMethods;
    await object.keepTurn(runIds[1] as RunId, LATE_PAGE);
    expect(await findTraces(runIds)).toEqual([]);
    expect((await remove(conversationId)).status).toBe(200);
    const forgotten = await ring(conversationId, "erasure").then(() =>
      rowsOf(conversationId, "SELECT deadlines FROM log WHERE seq = 0"),
    );
    expect(JSON.stringify(forgotten)).toContain("forget");
  });

  test.each<["first" | "second", number]>([
    ["first", 22],
    ["second", 6],
  ])("is deleted whole at whichever write the object of its %s run dies", async (which, writes) => {
    const { points } = await dieWhileDeleted(which, { mode: "durable" });
    expect(points.length).toBeGreaterThanOrEqual(writes);
    const cases = MODES.flatMap((mode) => points.map((_label, index) => ({ mode, at: index + 1 })));
    const sampled = sampleOfGroups(cases, ({ mode }) => mode, 8);
    let crashes = 0;
    for (const plan of sampled) {
      if ((await dieWhileDeleted(which, plan)).hasCrashed) crashes++;
    }
    expect(crashes).toBe(sampled.length);
  });

  test("that dies again and again while it is deleted says so, and the next request goes on", async () => {
    const { conversationId, runIds } = await leaveTraces();
    await crash(conversationId);
    const objectId = bindings.RUNS.idFromName(conversationId).toString();
    const died = [0, 1].map(() => planIncarnation({ objectId, at: 2, mode: "durable" }));
    const answer = await remove(conversationId);
    expect(died.map(({ hasCrashed }) => hasCrashed)).toEqual([true, true]);
    expect(answer.headers.get("retry-after")).toBe("1");
    expect(await refusalOf(answer)).toEqual([503, "deletion_interrupted"]);
    await erase(conversationId);
    await expect.poll(() => findTraces(runIds)).toEqual([]);
    for (const runId of runIds) {
      const gone = await send(`/v1/runs/${runId}`, { caller: "acme" });
      expect(await refusalOf(gone)).toEqual([410, "run_expired"]);
    }
  });

  test("whose second run dies meanwhile is deleted by the next request", async () => {
    const { conversationId, runIds } = await leaveTraces();
    const dies = String(runIds[1]);
    await crash(dies);
    const objectId = bindings.RUNS.idFromName(dies).toString();
    const died = planIncarnation({ objectId, at: 3, mode: "before" });
    const answer = await remove(conversationId);
    expect(died.hasCrashed).toBe(true);
    expect([answer.status, await answer.json()]).toMatchObject([202, { turnsLeft: 1 }]);
    await erase(conversationId);
    await expect.poll(() => findTraces(runIds)).toEqual([]);
  });

  test("is deleted by the alarm when its request died after the tombstone", async () => {
    const { conversationId, runIds } = await leaveTraces();
    await rowsOf(conversationId, "CREATE TABLE erasure (begun_ms INTEGER NOT NULL)");
    await rowsOf(conversationId, "UPDATE log SET tables = tables || ' erasure' WHERE seq = 0");
    await rowsOf(
      conversationId,
      `UPDATE log SET deadlines = json_set(deadlines, '$.erasure', json('{"atMs":1}'))`,
    );
    await crash(conversationId);
    expect(await refusalOf(await say({ conversationId }))).toEqual([410, "conversation_erased"]);
    // A page that was on its way.
    await changeTurns(conversationId, ...LOSE_PAGE_2);
    const object = stubOf(conversationId) as unknown as ConversationMethods;
    await object.keepTurn(runIds[1] as RunId, LATE_PAGE);
    expect(await rowsOf(conversationId, "SELECT 1 FROM pages WHERE number = 2")).toEqual([]);
    await ring(conversationId, "erasure");
    await expect.poll(() => findTraces(runIds), { timeout: 20_000 }).toEqual([]);
  });
});

test("a conversation in which a run goes on is not deleted, and the answer names the run", async () => {
  const { conversationId } = await finish();
  const held = await say({ conversationId, steps: [{ text: ["x"], holds: "busy" }] });
  const refused = await remove(conversationId);
  expect([refused.status, await refused.json()]).toEqual([
    409,
    expect.objectContaining({
      code: "conversation_busy",
      runs: [{ runId: runIdOf(held), why: ["unfinished"] }],
    }),
  ]);
  await fetch(releaseUrl("busy"));
  await held.text();
  await erase(conversationId);
});

test("nobody deletes another's conversation, and no agent what its person said", async () => {
  const { conversationId } = await finish();
  for (const caller of ["rival", "peer"] as const) {
    for (const id of [conversationId, "run_invented"]) {
      expect(await refusalOf(await remove(id, caller))).toEqual([404, "conversation_not_found"]);
    }
  }
  const begun = await finish({ caller: "mirasAgent" });
  await finish({ caller: "mira", conversationId: begun.runId });
  expect(await refusalOf(await remove(begun.runId, "mirasAgent"))).toEqual([
    404,
    "conversation_not_found",
  ]);
  await erase(begun.runId, "mira");
});

test("an undo is awaited, and then goes with the conversation whose call it undid", async () => {
  await govern({ allowedTools: ["lab__lend_book", "lab__return_book"] });
  const caller = "victor";
  const call = callOf("lab__lend_book", { book: CANARY });
  const { runId } = await finish({ caller, steps: [{ calls: [call] }, { text: ["lent"] }] });
  const undone = await send(`/v1/runs/${runId}/invocations/inv_1/compensate`, {
    caller,
    method: "POST",
  });
  const undoRun = runIdOf(undone);
  await undone.text();
  // As if the undo had not reported yet.
  await expect
    .poll(async () => (await stateOf(runId, caller)).toolCalls[0]?.undo?.status)
    .toBe("undone");
  await changeInvocation(runId, 1, { undo: { attempt: 1, runId: undoRun, status: "running" } });
  const busy = await remove(runId, caller);
  expect(await busy.json()).toMatchObject({ runs: [{ runId, why: ["undo"] }] });
  await changeInvocation(runId, 1, { undo: { attempt: 1, runId: undoRun, status: "undone" } });
  await erase(runId, caller);
  await expect.poll(() => dump(stubOf(undoRun))).not.toContain(CANARY);
  expect(await dump(stubOf(runId))).not.toContain(CANARY);
});

import { NO_FACTS } from "../../src/protocol/run/facts.ts";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runInDurableObject } from "cloudflare:test";
import { written } from "../workers/lab-writes.ts";
import { fingerprintIn } from "../shared/fingerprints.ts";
import {
  crash,
  deadlinesOf,
  refusalOf,
  ring,
  rowsOf,
  stubOf,
  tellOutcome,
} from "../shared/run-object.ts";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { bindings, runIdOf, seedPolicies, send, stateOf } from "../shared/worker.ts";

beforeAll(seedPolicies);
beforeEach(() => {
  written.length = 0;
});

const bodyOf = (...steps: readonly ScriptedStep[]): string =>
  JSON.stringify({ messages: [{ role: "user", content: script(...steps) }] });
const post = (path: string, body: string, key?: string): Promise<Response> =>
  send(path, {
    caller: "lab",
    method: "POST",
    headers: { "content-type": "application/json", ...(key && { "idempotency-key": key }) },
    body,
  });

/** Runs under a key to the end, until it is published. */
async function finish(key: string): Promise<{ body: string; runId: string; bytes: string }> {
  const args = JSON.stringify({ what: key });
  const body = bodyOf({ calls: [{ id: "w", name: "lab__pay", args }] }, { text: ["done"] });
  const response = await post("/v1/chat", body, key);
  const runId = runIdOf(response);
  const bytes = await response.text();
  await expect.poll(() => bindings.IDEMPOTENCY.get(`run/${runId}`)).not.toBeNull();
  return { body, runId, bytes };
}

describe("a run that has shrunk", () => {
  let shared: ReturnType<typeof shrunk> | undefined;
  async function shrunk() {
    const finished = await finish("shrunk");
    await ring(finished.runId, "retention");
    return finished;
  }
  const start = () => (shared ??= shrunk());

  test.each<[string, (runId: string) => Promise<Response>]>([
    ["its state", (runId) => send(`/v1/runs/${runId}`, { caller: "lab" })],
    ["its events", (runId) => send(`/v1/runs/${runId}/events`, { caller: "lab" })],
    ["a cancel", (runId) => send(`/v1/runs/${runId}/cancel`, { caller: "lab", method: "POST" })],
    ["a message", (runId) => post(`/v1/runs/${runId}/messages`, '{"content":"hi"}')],
    ["an outcome", (runId) => tellOutcome(runId, { body: { outcome: "committed" } })],
  ])("answers %s with 410", async (_name, ask) => {
    const { runId } = await start();
    expect(await refusalOf(await ask(runId))).toEqual([410, "run_expired"]);
  });

  test("is still published for a while: a hit gives the same bytes", async () => {
    const { body, bytes } = await start();
    expect(await (await post("/v1/chat", body, "shrunk")).text()).toBe(bytes);
  });

  test("knows its key where nothing is published: nothing runs again, another body is refused", async () => {
    const { body, runId } = await start();
    written.length = 0;
    await bindings.IDEMPOTENCY.delete(`run/${runId}`);
    const same = await post("/v1/chat", body, "shrunk");
    expect(await refusalOf(same)).toEqual([410, "run_expired"]);
    const other = await post("/v1/chat", bodyOf({ text: ["other"] }), "shrunk");
    expect(await refusalOf(other)).toEqual([422, "request_key_reused"]);
    expect(written).toEqual([]);
  });

  test("keeps nothing that was said but the page of its conversation", async () => {
    const { runId } = await start();
    for (const kept of ["messages", "invocations", "events"]) {
      expect(await rowsOf(runId, `SELECT * FROM ${kept}`), kept).toEqual([]);
    }
    const [{ error, facts } = {}] = await rowsOf(runId, "SELECT error, facts FROM progress");
    expect([error, JSON.parse(facts as string)]).toEqual([null, NO_FACTS]);
    expect(await rowsOf(runId, "SELECT claim, tables FROM run")).toEqual([
      { claim: null, tables: "turns pages" },
    ]);
    for (const isWoken of [false, true]) {
      if (isWoken) await crash(runId);
      expect(Object.keys(await deadlinesOf(runId))).toEqual(["forget"]);
    }
  });
});

test("a forgotten run is like one that never was, and its object comes to rest", async () => {
  const { runId } = await finish("forgotten");
  await bindings.IDEMPOTENCY.delete(`run/${runId}`);
  await ring(runId, "forget");
  const [tables, alarm] = await runInDurableObject(stubOf(runId), async (object, state) => {
    await object.alarm?.();
    const rows = state.storage.sql
      .exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'")
      .toArray();
    return [rows, await state.storage.getAlarm()] as const;
  });
  expect([tables, alarm]).toEqual([[], null]);
  const gone = await send(`/v1/runs/${runId}`, { caller: "lab" });
  expect(await refusalOf(gone)).toEqual([404, "run_not_found"]);
});

test("a run keeps its evidence for seven days, and the conversation that it began for a year", async () => {
  const { runId } = await finish("days");
  const { timestamps } = await stateOf(runId, "lab");
  const endedMs = Date.parse(timestamps.endedAt ?? "");
  expect(await deadlinesOf(runId)).toEqual({
    retention: endedMs + 7 * 86_400_000,
    forget: endedMs + 365 * 86_400_000,
  });
});

test("an ended write is published without its arguments and without its key in plain text", async () => {
  const { runId, body } = await finish("published");
  const [row] = await rowsOf(runId, "SELECT binding FROM invocations");
  const binding = JSON.parse(row?.["binding"] as string) as Record<string, string>;
  const { idempotencyKey = "", payloadHash = "" } = binding;
  const name = `invocation/lab/${await fingerprintIn("lab", runId, idempotencyKey)}`;
  const notice = await bindings.IDEMPOTENCY.get(name);
  expect(JSON.parse(notice ?? "")).toMatchObject({
    runId,
    invocationId: "inv_1",
    toolId: "lab__pay",
    state: "COMPLETED",
    payloadHash: await fingerprintIn("lab", runId, payloadHash),
    outcome: "SUCCESS",
  });
  expect(`${name}${notice}`).not.toContain(idempotencyKey);
  expect(notice).not.toContain("published");
  const record = await bindings.IDEMPOTENCY.get(`run/${runId}`);
  expect(record).not.toContain(JSON.stringify(body).slice(1, -1));
  expect(JSON.parse(record ?? "")).toStrictEqual({
    version: 3,
    requestHash: expect.stringMatching(/^hmac-sha256:/),
    run: { runId, workflowId: runId, model: "scripted", createdMs: expect.any(Number) },
    epochs: [{ epoch: 0, events: expect.any(Array) }],
  });
});

import { beforeAll, expect, test } from "vitest";
import { composeTenants } from "../../src/compose/tenant.ts";
import type { RunId, TenantId } from "../../src/protocol/identity/ids.ts";
import answers from "../fixtures/storage-2026-11-22/answers.json";
import finished from "../fixtures/storage-2026-11-22/finished-run.json";
import interrupted from "../fixtures/storage-2026-11-22/interrupted-run.json";
import kv from "../fixtures/storage-2026-11-22/kv.json";
import tenant from "../fixtures/storage-2026-11-22/tenant.json";
import unknown from "../fixtures/storage-2026-11-22/unknown-run.json";
import waiting from "../fixtures/storage-2026-11-22/waiting-run.json";
import { releaseUrl, script } from "../fakes/scripted-model.ts";
import { APPROVE, decide, ended } from "../shared/people.ts";
import { plant, plantTenant } from "../shared/planted-storage.ts";
import { tellOutcome, transcriptOf, untilState } from "../shared/run-object.ts";
import { auditNotice, auditOf, tell } from "../shared/tenant-notices.ts";
import { bindings, send } from "../shared/worker.ts";
import { moved } from "../workers/lab-approvals.ts";
import { effects } from "../workers/lab-tools.ts";

/**
 * Storage that the code of 2026-11-22 (9459a8d) wrote, when messages, invocations and events were
 * tables of their own (version 2). Its clock stood in the year 2100, so its deadlines do not pass.
 */
beforeAll(() => plantTenant({ tenant, policies: kv.POLICY }));

const eventsOf = async (runId: string): Promise<string> =>
  (await send(`/v1/runs/${runId}/events`, { caller: "ann" })).text();
const stateOf = async (runId: string): Promise<unknown> =>
  (await send(`/v1/runs/${runId}`, { caller: "ann" })).json();

test("a run that waits for its second approval goes on with one vote", async () => {
  await plant(bindings.RUNS, waiting);
  expect((await decide(answers.approvalId, "cat", APPROVE)).status).toBe(200);
  const { toolCalls } = await ended(waiting.name);
  expect(toolCalls).toMatchObject([{ outcome: "SUCCESS" }, { outcome: "SUCCESS" }]);
  expect(moved).toEqual(["40 to bakery"]);
  const stream = await eventsOf(waiting.name);
  const before = answers.waitingStream.replace(/retry: \d+\ndata: \[DONE\]\n\n$/, "");
  expect(stream.startsWith(before)).toBe(true);
  expect(stream).toContain("paid");
});

test("a run with an unknown outcome goes on after the report of an operator", async () => {
  await plant(bindings.RUNS, unknown);
  expect(await stateOf(unknown.name)).toEqual(answers.state.unknown);
  const report = { body: { outcome: "committed" }, caller: "chief" } as const;
  expect((await tellOutcome(unknown.name, report)).status).toBe(200);
  const { toolCalls } = await ended(unknown.name);
  expect(toolCalls).toMatchObject([{ state: "COMPLETED", settledBy: "user:chief" }]);
});

test("a finished run replays byte for byte, and answers repeats under its Idempotency-Key", async () => {
  await plant(bindings.RUNS, finished);
  expect(await eventsOf(finished.name)).toBe(answers.stream);
  expect(await stateOf(finished.name)).toEqual(answers.state.finished);
  const repeat = await send("/v1/chat", {
    caller: "ann",
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": `"${answers.key}"` },
    body: JSON.stringify({ messages: [{ role: "user", content: script(...answers.steps) }] }),
  });
  expect([repeat.status, repeat.headers.get("x-run-id")]).toEqual([200, finished.name]);
  expect(await repeat.text()).toBe(answers.stream);
  const messages = await transcriptOf(finished.name, "ann");
  expect(messages).toEqual(finished.rows.messages.map(({ body }) => JSON.parse(body)));
});

test("an interrupted run recovers, keeps its steering message, and repeats no effect", async () => {
  effects.length = 0;
  await plant(bindings.RUNS, interrupted);
  await untilState(interrupted.name, { status: "running", recoveries: 1 }, "ann");
  await fetch(releaseUrl("storage-tables"));
  await ended(interrupted.name);
  expect(effects).toEqual([]);
  const said = await transcriptOf(interrupted.name, "ann");
  expect(said.filter(({ role }) => role === "user")).toMatchObject([
    {},
    { role: "user", text: "and hurry" },
  ]);
});

test("a notice that earlier code received counts once", async () => {
  for (const { run_id: runId, last_seq: seq } of tenant.rows.heard) {
    await tell("guild", runId, [auditNotice(seq, { reason: "repeated" })]);
  }
  const reasons = (await auditOf("guild")).items.map(({ entry }) => entry.reason);
  expect(reasons).not.toContain("repeated");
});

test("a run delivers the notices that earlier code left in its outbox", async () => {
  const { trail } = composeTenants(bindings.TENANTS);
  const query = { after: 0, limit: 100, runId: interrupted.name as RunId };
  const actions = async (): Promise<readonly string[]> => {
    const { items } = await trail.read("guild" as TenantId, query);
    return items.map(({ entry }) => entry.action);
  };
  await expect.poll(actions).toContain("run.ended");
  expect(await actions()).toEqual(["run.started", "call.ended", "run.ended"]);
});

import { runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, test } from "vitest";
import { verifyChain } from "../../scripts/audit/verify-chain.ts";
import { RUN_MIGRATIONS } from "../../durable-objects/run/run-migrations.ts";
import { composeTenants } from "../../src/compose/tenant.ts";
import type { ApprovalView } from "../../src/protocol/approval/view.ts";
import type { TenantId } from "../../src/protocol/identity/ids.ts";
import answers from "../fixtures/storage-2026-11-21/answers.json";
import finished from "../fixtures/storage-2026-11-21/finished-run.json";
import interrupted from "../fixtures/storage-2026-11-21/interrupted-run.json";
import kv from "../fixtures/storage-2026-11-21/kv.json";
import tenant from "../fixtures/storage-2026-11-21/tenant.json";
import unknown from "../fixtures/storage-2026-11-21/unknown-run.json";
import waiting from "../fixtures/storage-2026-11-21/waiting-run.json";
import { releaseUrl, script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { fingerprintIn } from "../shared/fingerprints.ts";
import { APPROVE, decide, ended, openOf, readApproval, REJECT } from "../shared/people.ts";
import {
  plant,
  plantTenant,
  setVersion,
  tablesOf,
  type StoredObject,
} from "../shared/planted-storage.ts";
import { ringAlarm, rowsOf, stubOf, tellOutcome, untilState } from "../shared/run-object.ts";
import { bindings, postChat, putPolicy, send, splitEvents } from "../shared/worker.ts";
import { moved } from "../workers/lab-approvals.ts";
import { effects } from "../workers/lab-tools.ts";

/**
 * Storage that the code of 2026-11-21 (569fae4) wrote, before storage had a version. Its clock
 * stood in the year 2100, so its deadlines do not pass. RUN_ID_SECRET is that of the other tests: a
 * run id carries a MAC.
 */
beforeAll(() => plantTenant());

/** Starts a run of ann whose model answers with these steps. */
function post(steps: readonly unknown[], headers: Record<string, string> = {}): Promise<Response> {
  return send("/v1/chat", {
    caller: "ann",
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({
      messages: [{ role: "user", content: script(...(steps as ScriptedStep[])) }],
    }),
  });
}

async function* auditLines(): AsyncGenerator<string> {
  const response = await send("/v1/audit?format=jsonl", { caller: "chief" });
  yield* (await response.text()).trimEnd().split("\n");
}

/** A state as this code shows it: earlier code showed plain hashes. */
async function fingerprinted(
  state: { readonly toolCalls: readonly object[] },
  { name, rows }: StoredObject,
): Promise<object> {
  const toolCalls = state.toolCalls.map(async (call, index) => {
    const binding = rows["invocations"]?.[index]?.["binding"];
    if (typeof binding !== "string") return call;
    const { payloadHash, idempotencyKey } = JSON.parse(binding);
    return {
      ...call,
      payloadHash: await fingerprintIn("guild", name, payloadHash),
      idempotencyKeyHash: await fingerprintIn("guild", name, idempotencyKey),
    };
  });
  return { ...state, toolCalls: await Promise.all(toolCalls) };
}

function withoutLines(stream: string): string {
  return stream.replaceAll(/"lines":\[(?:\{[^{}]*\},?)*\]/g, '"lines":[]');
}

/** Repeats the request that started the finished run; answers status, run id and stream. */
async function repeat(): Promise<readonly unknown[]> {
  const response = await post(answers.steps, { "idempotency-key": `"${answers.key}"` });
  return [response.status, response.headers.get("x-run-id"), await response.text()];
}

/** Waits until the waiting run requests its approval again, and approves it twice. */
async function approveAnew(): Promise<void> {
  const state = await untilState(waiting.name, { status: "waiting" }, "ann");
  const [approvalId = ""] = openOf(state);
  expect(approvalId).not.toBe(answers.approvalId);
  for (const approver of ["bob", "cat"] as const) {
    expect((await decide(approvalId, approver, APPROVE)).status).toBe(200);
  }
}

function alarmOf(runId: string): Promise<number | null> {
  return runInDurableObject(stubOf(runId), (_object, { storage }) => storage.getAlarm());
}

describe("lists of the tenant", () => {
  test.each(Object.entries(answers.lists))("%s answers as before", async (path, [status, body]) => {
    const response = await send(path, { caller: "chief" });
    expect(response.status).toBe(status);
    // A newer release may add members, such as a field of the policy with its default.
    expect(await response.json()).toMatchObject(body as object);
  });

  test("a settled reservation counts once", async () => {
    const tenants = composeTenants(bindings.TENANTS);
    const guild = "guild" as TenantId;
    const settled = tenant.rows.reserved.find(({ state }) => state === "settled");
    const pin = await tenants.registry.current(guild);
    const before = await tablesOf(bindings.TENANTS, guild);
    const answer = await tenants.ledgerOf(guild).reserve({
      id: settled?.id ?? "",
      toolId: "core__calculate",
      amounts: { reads: 1 },
      limits: { reads: 1 },
      windowSeconds: 86_400,
      pin: pin ?? { revision: 0, hash: "" },
    });
    expect(answer).toEqual({ kind: "reserved" });
    expect(await tablesOf(bindings.TENANTS, guild)).toEqual(before);
  });
});

describe("a run", () => {
  test("that waits for a second approval requests both again, because it stored no terms", async () => {
    await plant(bindings.RUNS, waiting);
    const outdated = await decide(answers.approvalId, "cat", APPROVE);
    expect([outdated.status, await outdated.json()]).toMatchObject([
      409,
      { code: "approval_closed", approval: { status: "superseded", approvals: 1 } },
    ]);
    await approveAnew();
    const { toolCalls } = await ended(waiting.name);
    expect(toolCalls).toMatchObject([{ outcome: "SUCCESS" }, { outcome: "SUCCESS" }]);
    expect(moved).toEqual(["40 to bakery"]);
    const events = await send(`/v1/runs/${waiting.name}/events`, { caller: "ann" });
    const stream = await events.text();
    // The wire ends the stream of a waiting run with a trailer.
    const before = answers.waitingStream.replace("data: [DONE]\n\n", "");
    const shown = before.replaceAll(/sha256:[0-9a-f]{64}/g, "withheld");
    // The log holds no lines: this code writes them.
    expect(withoutLines(stream).startsWith(withoutLines(shown))).toBe(true);
    expect(stream).toContain("paid");
  });

  test("with an unknown outcome continues after the report of an operator and ends", async () => {
    await plant(bindings.RUNS, unknown);
    const state = await send(`/v1/runs/${unknown.name}`, { caller: "ann" });
    expect(await state.json()).toEqual(await fingerprinted(answers.state.unknown, unknown));
    const told = await tellOutcome(unknown.name, {
      body: { outcome: "committed" },
      caller: "chief",
    });
    expect(told.status).toBe(200);
    const run = await ended(unknown.name);
    expect(run.toolCalls).toMatchObject([{ state: "COMPLETED", settledBy: "user:chief" }]);
  });

  test("that has ended replays byte for byte, and answers repeats under its Idempotency-Key", async () => {
    await plant(bindings.RUNS, finished);
    const events = await send(`/v1/runs/${finished.name}/events`, { caller: "ann" });
    expect(await events.text()).toBe(answers.stream);
    const state = await send(`/v1/runs/${finished.name}`, { caller: "ann" });
    expect(await state.json()).toEqual(await fingerprinted(answers.state.finished, finished));
    expect(await repeat()).toEqual([200, finished.name, answers.stream]);
    for (const [key, value] of Object.entries(kv.IDEMPOTENCY)) {
      await bindings.IDEMPOTENCY.put(key, value);
    }
    expect(await repeat()).toEqual([200, finished.name, answers.stream]);
  });

  test("that was interrupted recovers, and repeats no effect", async () => {
    effects.length = 0;
    await plant(bindings.RUNS, interrupted);
    await untilState(interrupted.name, { status: "running", recoveries: 1 }, "ann");
    await fetch(releaseUrl("storage-fixture"));
    await ended(interrupted.name);
    expect(effects).toEqual([]);
    const events = await send(`/v1/runs/${interrupted.name}/events`, { caller: "ann" });
    expect(splitEvents(await events.text()).at(-1)?.id).toMatch(/^1-/);
  });

  test("that waits shows no plain hash of an idempotency key", async () => {
    await plant(bindings.RUNS, waiting);
    const approval = await readApproval(answers.approvalId, "cat");
    const events = await send(`/v1/runs/${waiting.name}/events`, { caller: "ann" });
    await decide(answers.approvalId, "cat", REJECT);
    const { packet, payloadHash } = await approval.json<ApprovalView>();
    expect(packet.idempotencyFingerprint).toBe("withheld");
    expect(payloadHash).toMatch(/^hmac-sha256:/);
    expect(await events.text()).not.toMatch(/(?<!hmac-)sha256:/);
  });

  test("is migrated when it wakes, to the current version and field names", async () => {
    await plant(bindings.RUNS, finished);
    await send(`/v1/runs/${finished.name}`, { caller: "ann" });
    expect(await rowsOf(finished.name, "SELECT version FROM schema_version")).toEqual([
      { version: 6 },
    ]);
    const rows = await rowsOf(finished.name, "SELECT ending FROM invocations");
    const lessons = rows.flatMap(({ ending }) => Object.keys(JSON.parse(ending as string).lesson));
    expect(lessons).toContain("argumentsFingerprint");
    expect(lessons).not.toContain("argumentsPrint");
  });
});

describe("storage of a newer version", () => {
  test("of a run is neither read nor written, and works again with the newer code", async () => {
    await plant(bindings.RUNS, waiting);
    moved.length = 0;
    await setVersion(bindings.RUNS, waiting.name, 99);
    const before = await tablesOf(bindings.RUNS, waiting.name);
    const refused = await Promise.all([
      send(`/v1/runs/${waiting.name}`, { caller: "ann" }),
      send(`/v1/runs/${waiting.name}/events`, { caller: "ann" }),
      send(`/v1/runs/${waiting.name}/cancel`, { caller: "ann", method: "POST" }),
      decide(answers.approvalId, "cat", APPROVE),
      tellOutcome(waiting.name, { body: { outcome: "committed" }, caller: "chief" }),
      tellOutcome(waiting.name, { body: { outcome: "reviewed" }, caller: "chief" }),
      postChat(
        { messages: [{ role: "user", content: "go on" }], previousRunId: waiting.name },
        "ann",
      ),
      ...["messages", "invocations/inv_1/compensate"].map((path) =>
        send(`/v1/runs/${waiting.name}/${path}`, {
          caller: "ann",
          method: "POST",
          headers: { "content-type": "application/json" },
          body: path === "messages" ? '{"content":"hello"}' : "{}",
        }),
      ),
    ]);
    for (const response of refused) {
      const { code } = await response.json<{ code: string }>();
      expect([response.status, code]).toEqual([503, "storage_too_new"]);
    }
    await ringAlarm(waiting.name);
    expect(await tablesOf(bindings.RUNS, waiting.name)).toEqual(before);
    expect(await alarmOf(waiting.name)).toBeGreaterThan(Date.now());
    expect(moved).toEqual([]);
    await setVersion(bindings.RUNS, waiting.name, RUN_MIGRATIONS.length);
    expect((await decide(answers.approvalId, "cat", APPROVE)).status).toBe(409);
    await approveAnew();
    await ended(waiting.name);
    expect(moved).toEqual(["40 to bakery"]);
  });

  test("of a tenant is neither read nor written, so lists answer 503 and runs dispatch nothing", async () => {
    await setVersion(bindings.TENANTS, "guild", 99);
    const before = await tablesOf(bindings.TENANTS, "guild");
    for (const path of ["/v1/runs", "/v1/approvals", "/v1/audit", "/v1/policy"]) {
      const response = await send(path, { caller: "chief" });
      expect([path, response.status]).toEqual([path, 503]);
    }
    const call = { id: "call_1", name: "lab__write_note", args: '{"text":"not now"}' };
    await (await post([{ calls: [call] }])).text();
    expect(effects).not.toContain("note: not now");
    expect(await tablesOf(bindings.TENANTS, "guild")).toEqual(before);
    await setVersion(bindings.TENANTS, "guild", 2);
    expect((await send("/v1/runs", { caller: "chief" })).status).toBe(200);
  });
});

// Last: a new policy revision closes the approvals of the old one.
test("the audit chain of the tenant verifies and continues from its old head", async () => {
  const policy = await send("/v1/policy", { caller: "chief" });
  const etag = policy.headers.get("etag") ?? "";
  const { policy: document } = await policy.json<{ policy: object }>();
  const change = await putPolicy(document, { caller: "chief", "if-match": etag });
  expect(change.status).toBe(200);
  const known = tenant.rows.audit.at(-1)?.hash;
  expect(await verifyChain(auditLines(), { known })).toMatchObject({ kind: "whole" });
});

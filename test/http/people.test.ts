import { abortAllDurableObjects, evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { beforeAll, describe, expect, test } from "vitest";
import type { WorkspaceMethods } from "../../src/capabilities/workspace.ts";
import type { ActorId, RunId, TenantId } from "../../src/protocol/identity/ids.ts";
import { objectNameOf, type WorkspaceAddress } from "../../src/protocol/workspace/address.ts";
import { releaseUrl } from "../fakes/scripted-model.ts";
import { finish, say, untilKept } from "../shared/conversations.ts";
import { planIncarnation } from "../shared/crash-points.ts";
import { image, SEES, text } from "../shared/file-messages.ts";
import { dataUrl } from "../shared/files.ts";
import { invoke } from "../shared/invoke.ts";
import { refusalOf } from "../shared/run-object.ts";
import { sampleOfGroups } from "../shared/sample.ts";
import { auditOf, tenantOf, tenantRows } from "../shared/tenant-notices.ts";
import { dump, findEverywhere } from "../shared/traces.ts";
import { bindings, runIdOf, send, type Caller } from "../shared/worker.ts";
import { callItems, governStudio, itemNames, startItemCall } from "../shared/workspaces.ts";

const POLICY = {
  allowedTools: ["lab__keep_item", "lab__show_items", "core__calculate"],
  workspaces: { studio: { actors: ["user:ada", "user:ben", "user:cleo"] } },
};
beforeAll(() => governStudio(POLICY));

const CANARY = "canary-0815";
/** What the call without a conversation was asked. */
const CALLED = "815815*1";
const WAITS = { timeout: 20_000 };
const BEN = "user:ben";

const ask = (path: string, method = "GET", caller: Caller = "ada"): Promise<Response> =>
  send(`/v1/people/${path}`, { caller, method });

interface Erasure {
  readonly status: string;
  readonly erased: object;
  readonly left: readonly { readonly why: readonly string[] }[];
  readonly without: readonly string[];
}

/** Rings the alarm of the tenant's object, also where the next step is planned for later. */
async function hurry(): Promise<void> {
  await tenantRows("studio", "UPDATE deadlines SET at_ms = 1 WHERE name = 'people'");
  // Its memory has the deadline as it was.
  await evictDurableObject(tenantOf("studio"));
  await runDurableObjectAlarm(tenantOf("studio"));
}

/** Waits until the tenant's lists know a run, and the end of all others. */
async function untilListed(runId: string, caller: Caller, running = 0): Promise<void> {
  const list = async (): Promise<unknown[]> => {
    const listed = await (await send("/v1/runs?limit=100", { caller })).text();
    return [listed.includes(runId), listed.split('"running"').length - 1];
  };
  await expect.poll(list, WAITS).toEqual([true, running]);
}

/** Asks to erase a person, and rings the tenant's alarm until that has ended. */
async function erase(person = BEN): Promise<Erasure> {
  const begun = await ask(`${person}/erasure`, "POST");
  expect(begun.status).toBe(202);
  let seen: Erasure | undefined;
  await expect
    .poll(async () => {
      await hurry().catch(() => {});
      seen = await (await ask(`${person}/erasure`).catch(() => Response.json({}))).json();
      return seen?.status;
    }, WAITS)
    .toMatch(/^(?:in)?complete$/);
  return seen as Erasure;
}

const workspaceOf = (address: WorkspaceAddress): DurableObjectStub & WorkspaceMethods =>
  bindings.WORKSPACES.get(
    bindings.WORKSPACES.idFromName(objectNameOf(address)),
  ) as DurableObjectStub & WorkspaceMethods;

const at = (name: string): WorkspaceAddress => ({
  name,
  tenantId: "studio" as TenantId,
  workspaceId: "studio",
});

/** Uses the workspace that declares nothing about people. */
async function useGamePlan(runId: string): Promise<void> {
  await workspaceOf(at("gameplan")).call({
    workspace: at("gameplan"),
    operation: "list_projects",
    args: {},
    actorId: BEN as ActorId,
    runId: runId as RunId,
    conversationId: runId as RunId,
    deadlineMs: Date.now() + 9_999,
  });
}

/** Leaves traces of a person everywhere: chats, an agent's too, a file, a call, and rows. */
async function leaveTraces(): Promise<readonly string[]> {
  const caller = "ben";
  const picture = image(dataUrl("image/png", btoa(`\x89PNG\r\n\x1a\n${CANARY}`)));
  const first = await finish({ caller, content: [text(CANARY), picture], model: SEES });
  const { conversationId } = first;
  const key = crypto.randomUUID();
  const second = await finish({ caller, conversationId, key, content: `more ${CANARY}` });
  const agents = await finish({ caller: "bensAgent", content: CANARY });
  await untilKept(conversationId, 2);
  const called = await invoke("core__calculate", { expression: CALLED }, { caller });
  const runIds = [first.runId, second.runId, agents.runId, runIdOf(called)];
  for (const name of [CANARY, `${CANARY} 2`, `${CANARY} 3`]) {
    const kept = await startItemCall({ caller, tool: "lab__keep_item", args: { name } });
    await kept.text();
    runIds.push(runIdOf(kept));
  }
  for (const runId of runIds) await untilListed(runId, caller);
  return runIds;
}

describe("an erased person", () => {
  test("leaves nothing that was said or written anywhere, and others lose nothing", async () => {
    const runIds = await leaveTraces();
    await useGamePlan(runIds[0] ?? "");
    const { conversationId } = await finish({ caller: "cleo", content: "of cleo" });
    await callItems({ caller: "cleo", tool: "lab__keep_item", args: { name: "of cleo" } });
    await untilListed(conversationId, "cleo");
    expect((await findEverywhere([CANARY, CALLED])).length).toBeGreaterThan(3);
    expect(await erase()).toMatchObject({
      status: "complete",
      erased: { conversations: 5, calls: 1, rows: 3 },
      left: [],
      without: ["gameplan/studio"],
      kept: ["audit", "keys"],
    });
    await expect.poll(() => findEverywhere([CANARY, CALLED]), WAITS).toEqual([]);
    expect(await dump(tenantOf("studio"))).not.toContain(BEN);
    expect(await dump(workspaceOf(at("lab")))).not.toContain(BEN);
    const chat = await send(`/v1/conversations/${conversationId}`, { caller: "cleo" });
    expect(chat.status).toBe(200);
    expect(await itemNames("cleo")).toEqual(["of cleo"]);
    const { items } = await auditOf("studio");
    const receipts = items.filter(({ entry }) => entry.action === "person.erased");
    expect(receipts.map(({ entry }) => entry)).toEqual([
      {
        action: "person.erased",
        at: expect.any(String),
        actorId: "user:ada",
        decision: "complete",
        person: {
          hash: expect.stringMatching(/^hmac-sha256:/),
          left: 0,
          conversations: 5,
          calls: 1,
          rows: 3,
          without: ["gameplan/studio"],
        },
      },
    ]);
    await finish({ caller: "ben", content: "begins anew" });
  });

  test("may be the first that a tenant hears of", async () => {
    const tenant = tenantOf("studio-without-runs");
    const tenantId = "studio-without-runs" as TenantId;
    const [personId, by] = ["user:nobody" as ActorId, "user:ada" as ActorId];
    await tenant.erasePerson({ tenantId, personId, erasureId: "e1", by, workspaces: [] });
    // An alarm that throws would be rung again, and would throw again.
    expect(await runDurableObjectAlarm(tenant)).toBe(true);
  });

  test("keeps what a person began for others", async () => {
    const { conversationId } = await finish({ caller: "bensAgent", content: "for ben" });
    await untilListed(conversationId, "ben");
    expect(await erase("agent:ben")).toMatchObject({ erased: { conversations: 0 }, left: [] });
    const chat = await send(`/v1/conversations/${conversationId}`, { caller: "ben" });
    expect(chat.status).toBe(200);
  });

  test("keeps what somebody still works on, and what its calls may ask for, until that ends", async () => {
    const caller = "ben";
    await callItems({ caller, tool: "lab__keep_item", args: { name: "kept" } });
    const held = await say({ caller, steps: [{ text: ["slow"], holds: "person" }] });
    const conversationId = runIdOf(held);
    await untilListed(conversationId, caller, 1);
    const { status, left } = await erase();
    expect([status, left]).toEqual(["incomplete", [{ conversationId, why: ["unfinished"] }]]);
    expect(await itemNames("cleo")).toContain("kept");
    await fetch(releaseUrl("person"));
    await held.text();
    await expect.poll(async () => (await erase()).status).toBe("complete");
    expect(await itemNames("cleo")).not.toContain("kept");
  });

  test("is erased whole, with one receipt, whatever write the tenant's object dies at", async () => {
    const objectId = bindings.TENANTS.idFromName("studio").toString();
    const receipts = async (): Promise<number> => {
      const { items } = await auditOf("studio");
      return items.filter(({ entry }) => entry.action === "person.erased").length;
    };
    for (const [at, mode] of sampleOfGroups(CRASHES, ([, mode]) => mode, 5)) {
      await leaveTraces();
      const before = await receipts();
      await abortAllDurableObjects();
      const planned = planIncarnation({ objectId, at, mode });
      await ask(`${BEN}/erasure`, "POST").catch(() => undefined);
      await expect.poll(() => planned.hasCrashed, WAITS).toBe(true);
      expect(await erase()).toMatchObject({ status: "complete", left: [] });
      expect((await receipts()) - before).toBe(1);
      await expect.poll(() => findEverywhere([CANARY, CALLED]), WAITS).toEqual([]);
    }
  });
});

/** Writes from the first of the request to those that end the first look. */
const CRASHES = [1, 5, 10, 15, 20, 25, 30, 35, 40].map(
  (at) => [at, at % 10 === 0 ? "before" : "durable"] as const,
);

describe("an export of a person", () => {
  test("has every page of chats, files, calls and rows, and what a person must not see is not there", async () => {
    const runIds = await leaveTraces();
    await useGamePlan(runIds[0] ?? "");
    const pages: Record<string, unknown>[] = [];
    for (let next: unknown; pages.length < 50;) {
      const query = typeof next === "string" ? `?cursor=${encodeURIComponent(next)}` : "";
      const page = await ask(`${BEN}/export${query}`, "GET", "archivist");
      expect(page.status).toBe(200);
      pages.push(await page.json());
      next = pages.at(-1)?.["next"];
      if (next === undefined) break;
    }
    const all = JSON.stringify(pages);
    for (const runId of runIds) expect(all).toContain(runId);
    for (const name of [CANARY, `${CANARY} 2`, `${CANARY} 3`]) {
      expect(all).toContain(`"name":"${name}"`);
    }
    expect(all).toContain(btoa(`\x89PNG\r\n\x1a\n${CANARY}`));
    expect(all).toContain('"without":"undeclared"');
    expect(all).not.toContain("system");
    const cursor = encodeURIComponent(String(pages[0]?.["next"]));
    const other = await ask(`user:cleo/export?cursor=${cursor}`, "GET", "archivist");
    expect(await refusalOf(other)).toEqual([400, "cursor_invalid"]);
    const { items } = await auditOf("studio");
    const receipts = items.filter(({ entry }) => entry.action === "person.exported");
    expect(receipts.map(({ entry }) => entry.actorId)).toEqual(["user:archivist"]);
  });
});

describe("an attack on the data of a person", () => {
  test.each<[string, string, Caller, number, string]>([
    ["GET", `${BEN}/export`, "ben", 403, "insufficient_scope"],
    ["POST", `${BEN}/erasure`, "archivist", 403, "insufficient_scope"],
    ["GET", `${BEN}/erasure`, "archivist", 403, "insufficient_scope"],
    ["GET", "user:nobody/erasure", "ada", 404, "erasure_not_found"],
    ["GET", "nobody/export", "ada", 422, "invalid_request"],
  ])("%s %s of %s is refused with %i %s", async (method, path, caller, status, code) => {
    expect(await refusalOf(await ask(path, method, caller))).toEqual([status, code]);
  });

  test("finds nothing of another tenant's person, as of one who is nobody", async () => {
    await finish({ caller: "ben", content: CANARY });
    const seen = await Promise.all(
      [BEN, "user:nobody"].map(async (person) => {
        const page = await ask(`${person}/export`, "GET", "dora");
        const { next, ...body } = await page.json<Record<string, unknown>>();
        const begun = await ask(`${person}/erasure`, "POST", "dora");
        const { erasureId, beganAt, ...erasure } = await begun.json<Record<string, unknown>>();
        expect([typeof next, typeof erasureId, typeof beganAt]).toEqual(Array(3).fill("string"));
        return [page.status, body, begun.status, erasure];
      }),
    );
    expect(seen[0]).toEqual(seen[1]);
    const own = await send("/v1/conversations", { caller: "ben" });
    expect((await own.json<{ conversations: unknown[] }>()).conversations).not.toEqual([]);
  });
});

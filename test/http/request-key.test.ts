import { runInDurableObject } from "cloudflare:test";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { viewerAs } from "../shared/run-object.ts";
import { effects } from "../workers/lab-tools.ts";
import { releaseUrl, script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { createApprovalSigner } from "../../src/adapters/keys/jose-approval-signer.ts";
import { createAuditSigner } from "../../src/adapters/keys/audit-signer.ts";
import { createHmacRunIds } from "../../src/adapters/run/hmac-run-ids.ts";
import type { ApprovalSigner } from "../../src/capabilities/approval.ts";
import type { ActorId, TenantId } from "../../src/protocol/identity/ids.ts";
import { bearer, deploy, type Send } from "../shared/identity.ts";
import { TOKENS } from "../shared/tokens.ts";
import {
  bindings,
  HOST_PAGE,
  putPolicy,
  runIdOf,
  seedPolicies,
  send,
  type Caller,
} from "../shared/worker.ts";

beforeAll(seedPolicies);
beforeEach(() => {
  effects.length = 0;
});

const WRITE: ScriptedStep = {
  calls: [{ id: "w", name: "lab__write_note", args: '{"text":"once","to":"ann"}' }],
};
const bodyOf = (...steps: readonly ScriptedStep[]): string =>
  JSON.stringify({ messages: [{ role: "user", content: script(...steps) }] });
const ask = (key: string, body: string, caller: Caller = "lab"): Promise<Response> =>
  send("/v1/chat", {
    caller,
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body,
  });
const codeOf = async (response: Response): Promise<unknown> =>
  (await response.json<{ code: unknown }>()).code;

test("a request that is repeated after its run has ended gets the same bytes, and nothing runs twice", async () => {
  const body = bodyOf(WRITE, { text: ["done"] });
  const first = await ask("again", body);
  const bytes = await first.text();
  const second = await ask("again", body);
  expect(second.status).toBe(200);
  expect(runIdOf(second)).toBe(runIdOf(first));
  expect(second.headers.get("content-type")).toBe(first.headers.get("content-type"));
  expect(await second.text()).toBe(bytes);
  expect(effects).toEqual(["note: once"]);
});

/**
 * What the release before `deriveKey` derived for tenant lab, actor user:lab and the key order-7.
 */
const OLDER_RUN_ID = "run_3960a5e63f3866513b91e4e2e5e3dd09_87916db387916db39f0ca40975baa578";

test("a key of an older release still names its run, and a repeat starts no second one", async () => {
  const body = bodyOf(WRITE, { text: ["done"] });
  const first = await ask("order-7", body);
  const bytes = await first.text();
  const second = await ask("order-7", body);
  expect([runIdOf(first), runIdOf(second)]).toEqual([OLDER_RUN_ID, OLDER_RUN_ID]);
  expect(await second.text()).toBe(bytes);
  expect(effects).toEqual(["note: once"]);
});

test("the same JSON in another order, or written otherwise, is the same request", async () => {
  const messages = `[{"role":"user","content":${JSON.stringify(script({ text: ["hi"] }))}}]`;
  const first = await ask("order", `{"messages":${messages},"model":"scripted"}`);
  await first.text();
  const second = await ask("order", `{ "model": "scrip\\u0074ed", "messages": ${messages} }`);
  expect([second.status, runIdOf(second)]).toEqual([200, runIdOf(first)]);
});

test("another body under a key is refused, while the run goes and after", async () => {
  const running = await ask("other", bodyOf({ text: ["one"], holds: "other" }));
  expect(await codeOf(await ask("other", bodyOf({ text: ["two"] })))).toBe("request_key_reused");
  await fetch(releaseUrl("other"));
  await running.text();
  const after = await ask("other", bodyOf({ text: ["two"] }));
  expect([after.status, await codeOf(after)]).toEqual([422, "request_key_reused"]);
});

test("a request that is repeated while its run goes is told where to follow it, and when to return", async () => {
  const body = bodyOf({ text: ["one"], holds: "busy" });
  const first = await ask("busy", body);
  const second = await ask("busy", body);
  expect([second.status, second.headers.get("retry-after"), runIdOf(second)]).toEqual([
    409,
    "1",
    runIdOf(first),
  ]);
  expect(await codeOf(second)).toBe("request_in_progress");
  await fetch(releaseUrl("busy"));
  const bytes = await first.text();
  expect(await (await ask("busy", body)).text()).toBe(bytes);
});

test("of fifty requests at once exactly one starts a run, and its tool runs once", async () => {
  const body = bodyOf(WRITE, { text: ["done"] });
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask("many", body)));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.every((status) => status === 200 || status === 409)).toBe(true);
  expect(new Set(answers.map(runIdOf)).size).toBe(1);
  const streams = await Promise.all(
    answers.filter(({ status }) => status === 200).map((answer) => answer.text()),
  );
  expect(new Set(streams).size).toBe(1);
  expect(effects).toEqual(["note: once"]);
});

describe("a key belongs to one actor of one tenant", () => {
  test.each<[string, Caller, Caller]>([
    ["another-tenant", "acme", "rival"],
    ["another-actor", "acme", "talker"],
  ])("%s has a run of its own under it", async (name, mine, theirs) => {
    const body = bodyOf({ text: [name] });
    const first = await ask(name, body, mine);
    const second = await ask(name, body, theirs);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(runIdOf(second)).not.toBe(runIdOf(first));
    await Promise.all([first.text(), second.text()]);
  });
});

test("a repeated request is answered as the first one was, whatever changed meanwhile", async () => {
  const body = JSON.stringify({
    messages: [{ role: "user", content: script({ text: ["hi"] }) }],
    toolIds: ["lab__greet"],
  });
  await putPolicy({ allowedTools: ["lab__greet"] }, { caller: "bendable", "if-none-match": "*" });
  const first = await ask("changed", body, "bendable");
  const bytes = await first.text();
  await putPolicy({ allowedTools: [] }, { caller: "bendable", "if-match": '"1"' });
  expect((await ask("changed-now", body, "bendable")).status).toBe(422);
  const second = await ask("changed", body, "bendable");
  expect([second.status, await second.text()]).toEqual([200, bytes]);
});

test("a request that is refused before a run starts leaves its key free", async () => {
  const refused = await ask("free", '{"messages":[]}');
  expect(refused.status).toBe(422);
  const started = await ask("free", bodyOf({ text: ["hi"] }));
  expect(started.status).toBe(200);
  await started.text();
});

test.each([
  ["empty", ""],
  ["empty quotes", '""'],
  ["over 255 characters", "k".repeat(256)],
  ["two headers in one", "a, b"],
  ["beyond ASCII", "sch\u00f6n"],
  ["an open quote", '"open'],
])("a key that is %s is refused before anything wakes", async (_name, key) => {
  const response = await ask(key, bodyOf({ text: ["hi"] }));
  expect([response.status, await codeOf(response)]).toEqual([400, "request_key_invalid"]);
});

test("a key means the same with quotes and without", async () => {
  const body = bodyOf({ text: ["hi"] });
  const first = await ask('"8e03978e-40d5"', body);
  await first.text();
  expect(runIdOf(await ask("8e03978e-40d5", body))).toBe(runIdOf(first));
});

test("a body of half characters is bound to its key with U+FFFD in their place", async () => {
  const bodyWith = (half: string) => `{"messages":[{"role":"user","content":"${half}"}]}`;
  const first = await ask("half", bodyWith("\\ud83d"));
  const bytes = await first.text();
  expect(await (await ask("half", bodyWith("\\ufffd"))).text()).toBe(bytes);
  const other = await ask("half", bodyWith("b"));
  expect([other.status, await codeOf(other)]).toEqual([422, "request_key_reused"]);
});

test("a look at a key that was never used writes nothing", async () => {
  const refused = await ask("unused", bodyOf({ text: ["hi"] }).replace("user", "nobody"));
  expect(refused.status).toBe(422);
  const ended = await ask("used", bodyOf({ text: ["hi"] }));
  await ended.text();
  const stub = bindings.RUNS.get(bindings.RUNS.idFromName("run_never"));
  const headers = { "x-viewer": JSON.stringify(viewerAs("acme")), "x-request-hash": "sha256:0" };
  await stub.fetch("https://run/repeat", { headers });
  const tables = await runInDurableObject(stub, (_object, state) =>
    state.storage.sql
      .exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'")
      .toArray(),
  );
  expect(tables).toEqual([]);
});

describe("the record in KV", () => {
  const recordOf = (response: Response): string => `run/${runIdOf(response)}`;

  /** Runs under a key to the end, until its record is published. */
  async function finish(key: string): Promise<{ body: string; first: Response; bytes: string }> {
    const body = bodyOf(WRITE, { text: [key] });
    const first = await ask(key, body);
    const bytes = await first.text();
    await expect.poll(() => bindings.IDEMPOTENCY.get(recordOf(first))).not.toBeNull();
    return { body, first, bytes };
  }

  test("answers in the object's place, with the same bytes and the same refusals", async () => {
    const { body, first, bytes } = await finish("kv");
    const stub = bindings.RUNS.get(bindings.RUNS.idFromName(runIdOf(first)));
    // An object that forgot everything would start the run once more.
    await runInDurableObject(stub, (_object, state) => state.storage.deleteAll());
    const second = await ask("kv", body);
    expect([second.status, await second.text()]).toEqual([200, bytes]);
    expect(second.headers.get("content-type")).toBe(first.headers.get("content-type"));
    const other = await ask("kv", bodyOf({ text: ["other"] }));
    expect(await codeOf(other)).toBe("request_key_reused");
    expect(effects).toEqual(["note: once"]);
  });

  test.each([
    ["is gone", undefined],
    ["is garbage", "{"],
    ["is of another shape", '{"requestHash":7}'],
  ])("decides nothing: when it %s, the object answers", async (name, value) => {
    const { body, first, bytes } = await finish(name.replaceAll(" ", "-"));
    if (value === undefined) await bindings.IDEMPOTENCY.delete(recordOf(first));
    else await bindings.IDEMPOTENCY.put(recordOf(first), value);
    const second = await ask(name.replaceAll(" ", "-"), body);
    expect([second.status, await second.text()]).toEqual([200, bytes]);
    expect(effects).toEqual(["note: once"]);
  });
});

test("a run without a key is not published", async () => {
  const response = await send("/v1/chat", {
    caller: "lab",
    method: "POST",
    headers: { "content-type": "application/json" },
    body: bodyOf({ text: ["hi"] }),
  });
  await response.text();
  const { keys } = await bindings.IDEMPOTENCY.list({ prefix: `run/${runIdOf(response)}` });
  expect(keys).toEqual([]);
});

describe("a rotation of the root secret", () => {
  const OLD = bindings.RUN_ID_SECRET;
  const NEW = "another secret for tests, 32 bytes long";
  const rotated = deploy({ RUN_ID_SECRET: NEW, RUN_ID_SECRET_OLD: OLD });
  const retired = deploy({ RUN_ID_SECRET: NEW });
  const askAt = (at: Send, key: string, body: string): Promise<Response> => {
    const headers = { "content-type": "application/json", "idempotency-key": key };
    return at("/v1/chat", { method: "POST", body, ...bearer(TOKENS.lab.token, headers) });
  };
  const statusOf = async (at: Send, runId: string): Promise<number> =>
    (await at(`/v1/runs/${runId}`, bearer(TOKENS.lab.token))).status;

  test("a request that is repeated after it gets the same run, and nothing runs twice", async () => {
    const body = bodyOf(WRITE, { text: ["done"] });
    const first = await ask("rotated", body);
    const bytes = await first.text();
    for (const at of [rotated, rotated]) {
      const again = await askAt(at, "rotated", body);
      expect([again.status, runIdOf(again), await again.text()]).toEqual([
        200,
        runIdOf(first),
        bytes,
      ]);
    }
    const other = await askAt(rotated, "rotated", bodyOf({ text: ["other"] }));
    expect([other.status, await codeOf(other)]).toEqual([422, "request_key_reused"]);
    expect(effects).toEqual(["note: once"]);
  });

  test("the older secret finds its runs, and the new one names those that begin", async () => {
    const first = await ask("before", bodyOf({ text: ["one"] }));
    await first.text();
    const later = await askAt(rotated, "later", bodyOf({ text: ["two"] }));
    await later.text();
    const [old, young] = [runIdOf(first), runIdOf(later)];
    expect([await statusOf(rotated, old), await statusOf(rotated, young)]).toEqual([200, 200]);
    expect([await statusOf(retired, old), await statusOf(retired, young)]).toEqual([404, 200]);
    const [, nonce = "", mac = ""] = /^run_(\w+)_(\w+)$/.exec(old) ?? [];
    const wrong = `${mac.startsWith("0") ? "1" : "0"}${mac.slice(1)}`;
    const { mac: strange } = await forge(nonce);
    const ids = createHmacRunIds(NEW, () => new Uint8Array(), OLD);
    expect(await ids.verify(old, "lab" as TenantId)).toBe(old);
    for (const forged of [wrong, strange, young.slice(-32), "0".repeat(32)]) {
      const runId = `run_${nonce}_${forged}`;
      expect(await statusOf(rotated, runId)).toBe(404);
      // It is refused by its form: no object wakes for it.
      expect(await ids.verify(runId, "lab" as TenantId)).toBeUndefined();
    }
    const rival = bearer(TOKENS.rival.token);
    expect((await rotated(`/v1/runs/${old}`, rival)).status).toBe(404);
  });

  /** The MAC that a guessed secret gives. */
  async function forge(nonce: string): Promise<{ mac: string }> {
    const bytes = new Uint8Array(
      nonce.match(/../g)?.map((pair) => Number.parseInt(pair, 16)) ?? [],
    );
    const guessed = createHmacRunIds("a guessed secret of thirty-two bytes", () => bytes);
    return {
      mac: (
        await guessed.mint({ tenantId: "lab" as TenantId, actorId: "user:lab" as ActorId })
      ).slice(-32),
    };
  }

  test("embed tokens that were minted before it are valid until the older secret goes", async () => {
    const order = { origin: HOST_PAGE, actorId: "user:ann", toolIds: ["core__calculate"] };
    const minted = await send("/v1/embed-tokens", {
      caller: "backend",
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...order, scopes: ["tools:read"] }),
    });
    const { token } = await minted.json<{ token: string }>();
    const page = bearer(token, { origin: HOST_PAGE });
    expect((await rotated("/v1/tools", page)).status).toBe(200);
    expect((await retired("/v1/tools", page)).status).toBe(401);
  });

  test("approvals and audit summaries of the older secret are verified, and of no other", async () => {
    const token = { jti: "x" } as unknown as Parameters<ApprovalSigner["sign"]>[0];
    const signed = await createApprovalSigner(OLD).sign(token);
    expect(await createApprovalSigner(NEW, OLD).read(signed)).toEqual(token);
    expect(await createApprovalSigner(NEW).read(signed)).toBeUndefined();
    const summary = await createAuditSigner(OLD).sign("removed");
    expect(await createAuditSigner(NEW, OLD).hasSigned("removed", summary)).toBe(true);
    expect(await createAuditSigner(NEW, OLD).hasSigned("other", summary)).toBe(false);
    expect(await createAuditSigner(NEW).hasSigned("removed", summary)).toBe(false);
  });
});

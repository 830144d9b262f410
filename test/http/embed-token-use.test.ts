import { listDurableObjectIds } from "cloudflare:test";
import { beforeAll, describe, expect, test } from "vitest";
import { createEmbedTokens } from "../../src/adapters/identity/embed-tokens.ts";
import type { ActorId, TenantId } from "../../src/protocol/identity/ids.ts";
import { bearer } from "../shared/identity.ts";
import { openOf } from "../shared/people.ts";
import { untilState } from "../shared/run-object.ts";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { TOKENS } from "../shared/tokens.ts";
import {
  bindings,
  type Caller,
  chat,
  chunksOf,
  HOST_PAGE,
  runIdOf,
  seedPolicies,
  send,
  stateOf,
} from "../shared/worker.ts";

beforeAll(seedPolicies);

const JSON_TYPE = { "content-type": "application/json" };

const ORDER = { origin: HOST_PAGE, actorId: "user:ann", toolIds: ["core__calculate"] };

const PAGE_SCOPES = ["chat", "runs:read", "tools:read"];

function mint(order: unknown, caller: Caller = "backend"): Promise<Response> {
  return send("/v1/embed-tokens", {
    caller,
    method: "POST",
    headers: JSON_TYPE,
    body: JSON.stringify(order),
  });
}

async function tokenFor(changes: object = {}): Promise<string> {
  const response = await mint({ ...ORDER, scopes: PAGE_SCOPES, ...changes });
  if (response.status !== 200) throw new Error(await response.text());
  return (await response.json<{ token: string }>()).token;
}

/** Makes a token as the Worker would have at some time, under some policy. */
async function signed({
  nowMs = Date.now(),
  ttlSeconds = 900,
  origin = HOST_PAGE,
}: {
  readonly nowMs?: number;
  readonly ttlSeconds?: number;
  readonly origin?: string;
}): Promise<string> {
  const tokens = createEmbedTokens({
    rootSecret: "a secret for tests, 32 bytes long",
    clock: { nowMs: () => nowMs, schedule: () => () => undefined },
    randomId: () => "x",
  });
  const [actorId, minterId] = ["user:ann" as ActorId, "service:backend" as ActorId];
  const holder = { tenantId: "hosted" as TenantId, actorId, minterId };
  const order = {
    ...ORDER,
    ...holder,
    origin,
    scopes: ["tools:read"] as const,
    roles: [],
    ttlSeconds,
  };
  return (await tokens.mint(order)).token;
}

/** Sends a request as the page would that holds the token. */
function ask(token: string, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { origin: HOST_PAGE, ...(init.headers as Record<string, string> | undefined) };
  return send(path, { ...init, ...bearer(token, headers) });
}

function chatAs(
  token: string,
  steps: readonly ScriptedStep[],
  body: object = {},
): Promise<Response> {
  const messages = [{ role: "user", content: script(...steps) }];
  return ask(token, "/v1/chat", {
    method: "POST",
    headers: JSON_TYPE,
    body: JSON.stringify({ messages, ...body }),
  });
}

const codeOf = async (response: Response): Promise<unknown> => [
  response.status,
  (await response.json<{ code: string }>()).code,
];

describe("a page's token", () => {
  test.each([
    ["another origin", "https://evil.example"],
    ["another origin that the tenant admits", "http://localhost:3000"],
    ["the Worker's own origin", "https://interlock.test"],
    ["the origin null", "null"],
    ["a subdomain", HOST_PAGE.replace("//", "//x.")],
  ])("is refused from %s, and wakes nothing", async (_name, origin) => {
    const token = await tokenFor();
    const before = await listDurableObjectIds(bindings.RUNS);
    const headers = { ...JSON_TYPE, origin };
    const body = JSON.stringify({ messages: [{ role: "user", content: "hi" }] });
    const refused = await ask(token, "/v1/chat", { method: "POST", headers, body });
    expect(await codeOf(refused)).toEqual([403, "origin_not_allowed"]);
    expect(refused.headers.has("access-control-allow-origin")).toBe(false);
    expect(await listDurableObjectIds(bindings.RUNS)).toHaveLength(before.length);
  });

  test("is refused without an origin", async () => {
    const refused = await send("/v1/tools", bearer(await tokenFor()));
    expect(await codeOf(refused)).toEqual([403, "origin_not_allowed"]);
  });

  test("is refused from an origin that the policy does not hold, even the Worker's own", async () => {
    const origin = "https://interlock.test";
    const token = await signed({ origin });
    const refused = await ask(token, "/v1/tools", { headers: { origin } });
    expect(await codeOf(refused)).toEqual([403, "origin_not_allowed"]);
  });

  test("is refused once its time is over", async () => {
    const past = Date.now() - 3_600_000;
    const made = await signed({ nowMs: past, ttlSeconds: 900 });
    expect(await codeOf(await ask(made, "/v1/tools"))).toEqual([401, "invalid_token"]);
    const lasting = await signed({ nowMs: past, ttlSeconds: 7_200 });
    expect((await ask(lasting, "/v1/tools")).status).toBe(200);
  });

  test("shows and uses the tools that it was given, and no others", async () => {
    const token = await tokenFor();
    const { tools } = await (await ask(token, "/v1/tools")).json<{ tools: { name: string }[] }>();
    expect(tools.map(({ name }) => name)).toEqual(["core__calculate"]);
    expect((await ask(token, "/v1/tools/core__generate_title")).status).toBe(404);
    const other = await chatAs(token, [], { toolIds: ["core__generate_title"] });
    expect(await codeOf(other)).toEqual([422, "tool_not_available"]);
    const calls = [
      { name: "core__generate_title", args: '{"title":"x"}' },
      { name: "core__calculate", args: '{"expression":"6*7"}' },
    ];
    const chunks = await chunksOf(await chatAs(token, [{ calls }, { text: ["done"] }]));
    const results = chunks.filter(({ type }) => type === "result");
    expect(results.filter(({ isError }) => isError === true)).toHaveLength(1);
    expect(results).toHaveLength(2);
    expect(chunks.some(({ data }) => JSON.stringify(data ?? "").includes('"title"'))).toBe(false);
  });

  test("lowers the limits of its runs and raises none", async () => {
    const calls = [{ name: "core__calculate", args: '{"expression":"1"}' }];
    const steps = Array.from({ length: 25 }, (_, index) => ({
      calls: [{ ...calls[0], name: "core__calculate", args: `{"expression":"${index}"}` }],
    }));
    const stepsWith = async (maxSteps: number): Promise<number> => {
      const token = await tokenFor({ budgets: { maxSteps } });
      const response = await chatAs(token, steps);
      await response.text();
      return (await stateOf(runIdOf(response), "hosted")).steps;
    };
    expect(await stepsWith(1)).toBe(1);
    expect(await stepsWith(90)).toBe(20);
  });

  test.each([
    ["POST", "/v1/embed-tokens"],
    ["GET", "/v1/runs"],
    ["GET", "/v1/approvals"],
    ["GET", "/v1/outcomes"],
    ["GET", "/v1/escalations"],
    ["POST", "/v1/escalations/esc_1"],
    ["GET", "/v1/audit"],
    ["GET", "/v1/policy"],
    ["PUT", "/v1/policy"],
    ["GET", "/v1/assistants"],
    ["GET", "/v1/assistants/default"],
    ["PUT", "/v1/assistants/default"],
    ["DELETE", "/v1/assistants/default"],
    ["PUT", "/v1/connections/crm"],
    ["DELETE", "/v1/connections/crm"],
    ["POST", "/v1/runs/x/invocations/inv_1/outcome"],
    ["POST", "/v1/runs/x/replay"],
    ["GET", "/v1/runs/x/trace"],
  ])("may not %s %s", async (method, path) => {
    const token = await tokenFor({ scopes: [...PAGE_SCOPES, "approvals:read"] });
    const refused = await ask(token, path, { method });
    expect(await codeOf(refused)).toEqual([403, "insufficient_scope"]);
  });

  test("sees the runs that its person began on pages of its origin, and no others", async () => {
    const [ann, again, bob] = [
      await tokenFor(),
      await tokenFor({ toolIds: ["core__calculate", "core__generate_title"] }),
      await tokenFor({ actorId: "user:bob" }),
    ];
    const elsewhere = await tokenFor({ origin: "http://localhost:3000" });
    const own = runIdOf(await chatAs(ann, [{ text: ["hi"] }]));
    const read = async (token: string, runId: string): Promise<number> =>
      (await ask(token, `/v1/runs/${runId}`)).status;
    expect(await read(ann, own)).toBe(200);
    expect(await read(again, own)).toBe(200);
    expect(await read(bob, own)).toBe(404);
    const headers = { origin: "http://localhost:3000" };
    expect((await ask(elsewhere, `/v1/runs/${own}`, { headers })).status).toBe(404);
    const more = await chatAs(bob, [{ text: ["x"] }], { previousRunId: own });
    expect(await codeOf(more)).toEqual([404, "run_not_found"]);
  });

  test("does not reach a run that its person began with more authority", async () => {
    const token = await tokenFor({ actorId: "user:hosted" });
    const body = JSON.stringify({
      messages: [{ role: "user", content: script({ text: ["hi"], hangs: true }) }],
    });
    const run = await send("/v1/chat", {
      caller: "hosted",
      method: "POST",
      headers: { ...JSON_TYPE, "idempotency-key": "both-of-them" },
      body,
    });
    const runId = runIdOf(run);
    expect((await ask(token, `/v1/runs/${runId}`)).status).toBe(404);
    const said = await ask(token, `/v1/runs/${runId}/messages`, {
      method: "POST",
      headers: JSON_TYPE,
      body: '{"content":"do more"}',
    });
    expect(said.status).toBe(404);
    const keyed = await ask(token, "/v1/chat", {
      method: "POST",
      headers: { ...JSON_TYPE, "idempotency-key": "both-of-them" },
      body: JSON.stringify({ messages: [{ role: "user", content: script({ text: ["hi"] }) }] }),
    });
    expect(keyed.status).toBe(200);
    expect(runIdOf(keyed)).not.toBe(runId);
    await send(`/v1/runs/${runId}/cancel`, { caller: "hosted", method: "POST" });
  });

  test("decides approvals of its own runs only, not of its person's other runs", async () => {
    const toolIds = ["core__generate_title"];
    const scopes = [...PAGE_SCOPES, "approvals:read", "approvals:decide"];
    const token = await tokenFor({ actorId: "user:hosted", toolIds, scopes });
    const calls = [{ name: "core__generate_title", args: '{"title":"x"}' }];
    const questionOf = async (run: Response): Promise<string> =>
      openOf(await untilState(runIdOf(run), { status: "waiting" }, "hosted"))[0] ?? "none";
    const decide = (id: string): Promise<Response> =>
      ask(token, `/v1/approvals/${id}/decisions`, {
        method: "POST",
        headers: JSON_TYPE,
        body: '{"decision":"approve"}',
      });
    const elsewhere = await questionOf(await chat([{ calls }, { text: ["done"] }], "hosted"));
    expect((await ask(token, `/v1/approvals/${elsewhere}`)).status).toBe(404);
    expect(await codeOf(await decide(elsewhere))).toEqual([404, "approval_not_found"]);
    const own = await questionOf(await chatAs(token, [{ calls }, { text: ["done"] }]));
    expect((await ask(token, `/v1/approvals/${own}`)).status).toBe(200);
    expect((await decide(own)).status).toBe(200);
  });

  test("is no other kind of token, and no static one is its", async () => {
    const headers = { origin: HOST_PAGE };
    expect((await send("/v1/tools", bearer(TOKENS.hosted.token, headers))).status).toBe(200);
    const token = await tokenFor();
    for (const broken of [
      token.slice(0, -2),
      `${token}A`,
      token.replace(".", ".A"),
      `${token}.A`,
    ]) {
      expect((await ask(broken, "/v1/tools")).status).toBe(401);
    }
  });
});

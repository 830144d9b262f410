import { beforeAll, describe, expect, test } from "vitest";
import { bearer } from "../shared/identity.ts";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { type Caller, HOST_PAGE, seedPolicies, send } from "../shared/worker.ts";

beforeAll(seedPolicies);

const JSON_TYPE = { "content-type": "application/json" };

const ORDER = { origin: HOST_PAGE, actorId: "user:ann", toolIds: ["core__calculate"] };

function mint(order: unknown, caller: Caller = "backend"): Promise<Response> {
  return send("/v1/embed-tokens", {
    caller,
    method: "POST",
    headers: JSON_TYPE,
    body: JSON.stringify(order),
  });
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

describe("a server makes a token for a page", () => {
  test("that lasts a quarter of an hour, and that nothing keeps", async () => {
    const response = await mint(ORDER);
    const { token, expiresAt } = await response.json<{ token: string; expiresAt: string }>();
    expect(response.headers.get("cache-control")).toBe("no-store");
    const seconds = (Date.parse(expiresAt) - Date.now()) / 1_000;
    expect(seconds).toBeGreaterThan(880);
    expect(seconds).toBeLessThanOrEqual(900);
    expect((await ask(token, "/v1/tools")).status).toBe(403);
    expect((await chatAs(token, [{ text: ["hi"] }])).status).toBe(200);
  });

  test("that the audit log knows of, with whose it is and what it can do, and without itself", async () => {
    const response = await mint(ORDER);
    const { token, expiresAt } = await response.json<{ token: string; expiresAt: string }>();
    const log = await send("/v1/audit?action=embed_token.minted&limit=100", { caller: "hosted" });
    const text = await log.text();
    const { records } = JSON.parse(text) as { records: { entry: object }[] };
    const { actorId: holder, origin, toolIds } = ORDER;
    expect(records.at(-1)?.entry).toMatchObject({
      actorId: "service:backend",
      result: { holder, origin, toolIds, expiresAt },
    });
    expect(text).not.toContain(token.split(".")[2]);
  });

  test.each([
    ["no origin", { origin: undefined }],
    ["an origin with a path", { origin: `${HOST_PAGE}/` }],
    ["an origin in capitals", { origin: HOST_PAGE.toUpperCase() }],
    ["an origin with its own port", { origin: `${HOST_PAGE}:443` }],
    ["an origin over an open line", { origin: "http://app.hosted.example" }],
    ["a wildcard", { origin: "*" }],
    ["a wildcard host", { origin: "https://*.hosted.example" }],
    ["the origin null", { origin: "null" }],
    ["a file", { origin: "file://" }],
    ["a service's account", { actorId: "service:ci" }],
    ["an agent's account", { actorId: "agent:x" }],
    ["an account with a separator", { actorId: "user:a,b" }],
    ["a tenant of its own choice", { tenantId: "acme" }],
    ["roles of another form", { roles: ["The operator"] }],
    ["no tools", { toolIds: [] }],
    ["tools by a wildcard only", { toolIds: undefined }],
    ["a scope that administers", { scopes: ["policy:write"] }],
    ["a scope that makes tokens", { scopes: ["embed:mint"] }],
    ["a scope that sees everybody's runs", { scopes: ["runs:read_all"] }],
    ["no scope at all", { scopes: [] }],
    ["a minute less than a minute", { ttlSeconds: 59 }],
    ["more than an hour", { ttlSeconds: 3_601 }],
    ["half a second", { ttlSeconds: 60.5 }],
    ["a limit below nothing", { budgets: { maxReads: -1 } }],
    ["a limit that nobody knows", { budgets: { maxEverything: 1 } }],
  ])("not with %s", async (_name, changes) => {
    expect(await codeOf(await mint({ ...ORDER, ...changes }))).toEqual([422, "invalid_request"]);
  });

  test("not for an origin that its policy does not admit", async () => {
    const order = { ...ORDER, origin: "https://evil.example" };
    expect(await codeOf(await mint(order))).toEqual([403, "origin_not_allowed"]);
  });

  test.each(["core__roll_dice", "core__nothing", "__proto__", "*"])(
    "not for the tool %s, which its policy does not offer",
    async (toolId) => {
      const refused = await mint({ ...ORDER, toolIds: ["core__calculate", toolId] });
      expect(await codeOf(refused)).toEqual([422, "tool_not_available"]);
    },
  );

  test("not with a scope that it does not hold itself", async () => {
    expect(await codeOf(await mint(ORDER, "minter"))).toEqual([403, "insufficient_scope"]);
  });

  test.each<[Caller, string, readonly string[], number]>([
    ["courier", "an agent", ["chat"], 403],
    ["courier", "an agent that would decide", ["approvals:decide"], 403],
    ["proxy", "a delegate", ["chat"], 403],
    ["hosted", "a person with a colleague in mind", ["chat"], 403],
    ["backend", "a server, whose people decide", ["approvals:decide"], 200],
  ])("%s, %s, asks for %j: %i", async (caller, _who, scopes, status) => {
    const answer = await mint({ ...ORDER, scopes }, caller);
    expect(answer.status).toBe(status);
    const { code } = await answer.json<{ code?: string }>();
    expect(code).toBe(status === 403 ? "minting_not_allowed" : undefined);
  });

  test("not without the scope for it", async () => {
    expect(await codeOf(await mint(ORDER, "acme"))).toEqual([403, "insufficient_scope"]);
  });
});

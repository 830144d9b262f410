import { beforeAll, expect, test } from "vitest";
import { createHash } from "node:crypto";
import { chat, runIdOf, seedPolicies, send } from "../suites/worker.ts";
import { TOKENS } from "../suites/tokens.ts";

beforeAll(seedPolicies);

const ROUTES = [
  ["POST", "/v1/chat"],
  ["GET", "/v1/runs/x"],
  ["GET", "/v1/runs/x/events"],
  ["POST", "/v1/runs/x/cancel"],
  ["GET", "/v1/tools"],
  ["PUT", "/v1/connections/x"],
  ["DELETE", "/v1/connections/x"],
  ["GET", "/v1/policy"],
  ["PUT", "/v1/policy"],
  ["GET", "/v1/tools/x"],
] as const;

test.each(ROUTES)("asks for a token: %s %s", async (method, path) => {
  const response = await send(path, { method });
  expect(response.status).toBe(401);
  expect(response.headers.get("www-authenticate")).toBe("Bearer");
  expect(await response.json()).toMatchObject({ code: "missing_token" });
});

test.each([
  ["one that is wrong", "Bearer nonsense"],
  ["one that is a prefix of a right one", `Bearer ${TOKENS.acme.token.slice(0, -1)}`],
  ["the hash of a right one", `Bearer ${sha256(TOKENS.acme.token)}`],
  ["one of a megabyte", `Bearer ${"a".repeat(1024 * 100)}`],
])("refuses a token: %s", async (_name, authorization) => {
  const response = await send("/v1/tools", { headers: { authorization } });
  expect([response.status, await response.json()]).toEqual([
    401,
    expect.objectContaining({ code: "invalid_token" }),
  ]);
});

test("refuses another scheme", async () => {
  const basic = `Basic ${btoa(TOKENS.acme.token)}`;
  const response = await send("/v1/tools", { headers: { authorization: basic } });
  expect(response.status).toBe(401);
});

test.each([
  ["POST", "/v1/chat", "chat"],
  ["GET", "/v1/runs/x", "runs:read"],
  ["GET", "/v1/runs/x/events", "runs:read"],
  ["POST", "/v1/runs/x/cancel", "chat"],
  ["GET", "/v1/tools", "tools:read"],
  ["PUT", "/v1/connections/x", "connections:write"],
  ["DELETE", "/v1/connections/x", "connections:write"],
  ["GET", "/v1/policy", "policy:read"],
  ["PUT", "/v1/policy", "policy:write"],
  ["GET", "/v1/tools/x", "tools:read"],
])("%s %s takes the scope %s alone", async (method, path, scope) => {
  for (const caller of ["talker", "reader", "lister", "keeper", "onlooker", "governor"] as const) {
    const granted: readonly string[] = TOKENS[caller].scopes;
    const { status } = await send(path, { caller, method });
    expect(status === 403).toBe(!granted.includes(scope));
  }
});

test("refuses what the token's scopes do not cover", async () => {
  const response = await send("/v1/tools", { caller: "reader" });
  expect([response.status, await response.json()]).toEqual([
    403,
    expect.objectContaining({ code: "insufficient_scope" }),
  ]);
  const start = await send("/v1/chat", { caller: "reader", method: "POST", body: "{}" });
  expect(start.status).toBe(403);
});

test("lets another token of the same tenant read a run", async () => {
  const response = await chat([{ text: ["hi"] }]);
  await response.text();
  expect((await send(`/v1/runs/${runIdOf(response)}`, { caller: "reader" })).status).toBe(200);
});

test("answers another tenant's run exactly as an unknown one", async () => {
  const response = await chat([{ text: ["hi"] }]);
  await response.text();
  const foreign = runIdOf(response);
  const unknown = `run_${"ab".repeat(16)}_${"cd".repeat(16)}`;
  for (const [method, suffix] of [
    ["GET", ""],
    ["GET", "/events"],
    ["POST", "/cancel"],
  ] as const) {
    const answers = [];
    for (const runId of [foreign, unknown]) {
      const answer = await send(`/v1/runs/${runId}${suffix}`, { caller: "rival", method });
      answers.push([answer.status, [...answer.headers], await answer.text()]);
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]?.[0]).toBe(404);
  }
});

test("a run id with one bit of its MAC changed is unknown", async () => {
  const response = await chat([{ text: ["hi"] }]);
  await response.text();
  const runId = runIdOf(response);
  const forged = runId.slice(0, -1) + (runId.endsWith("0") ? "1" : "0");
  expect((await send(`/v1/runs/${forged}`, { caller: "acme" })).status).toBe(404);
});

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

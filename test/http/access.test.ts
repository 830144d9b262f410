import { evictDurableObject } from "cloudflare:test";
import { beforeAll, expect, test } from "vitest";
import { createHash } from "node:crypto";
import { ring, stubOf } from "../shared/run-object.ts";
import { startsOfRuns } from "../workers/lab-objects.ts";
import { script } from "../fakes/scripted-model.ts";
import {
  type Caller,
  chat,
  postChat,
  runIdOf,
  seedPolicies,
  send,
  stateOf,
} from "../shared/worker.ts";
import { TOKENS } from "../shared/tokens.ts";

beforeAll(seedPolicies);

const ROUTES = [
  ["POST", "/v1/chat"],
  ["GET", "/v1/runs/x"],
  ["GET", "/v1/runs/x/events"],
  ["POST", "/v1/runs/x/cancel"],
  ["GET", "/v1/tools"],
  ["PUT", "/v1/connections/x"],
  ["DELETE", "/v1/connections/x"],
  ["GET", "/v1/providers"],
  ["GET", "/v1/providers/x"],
  ["PUT", "/v1/providers/x"],
  ["DELETE", "/v1/providers/x"],
  ["GET", "/v1/policy"],
  ["PUT", "/v1/policy"],
  ["GET", "/v1/tools/x"],
  ["POST", "/v1/embed-tokens"],
  ["GET", "/v1/runs"],
  ["POST", "/v1/runs/x/messages"],
  ["POST", "/v1/runs/x/invocations/inv_1/outcome"],
  ["POST", "/v1/runs/x/replay"],
  ["GET", "/v1/approvals"],
  ["GET", "/v1/outcomes"],
  ["GET", "/v1/escalations"],
  ["POST", "/v1/escalations/esc_1"],
  ["GET", "/v1/approvals/x"],
  ["POST", "/v1/approvals/x/decisions"],
  ["POST", "/v1/approvals/decisions"],
  ["GET", "/v1/audit"],
  ["GET", "/v1/page"],
  ["GET", "/v1/assistants"],
  ["GET", "/v1/assistants/x"],
  ["PUT", "/v1/assistants/x"],
  ["DELETE", "/v1/assistants/x"],
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
  ["GET", "/v1/providers", "providers:read"],
  ["GET", "/v1/providers/x", "providers:read"],
  ["PUT", "/v1/providers/x", "providers:write"],
  ["DELETE", "/v1/providers/x", "providers:write"],
  ["GET", "/v1/policy", "policy:read"],
  ["PUT", "/v1/policy", "policy:write"],
  ["GET", "/v1/tools/x", "tools:read"],
  ["POST", "/v1/embed-tokens", "embed:mint"],
  ["GET", "/v1/runs", "runs:read"],
  ["POST", "/v1/runs/x/messages", "chat"],
  ["POST", "/v1/runs/x/invocations/inv_1/outcome", "runs:operate"],
  ["POST", "/v1/runs/x/replay", "audit:read"],
  ["GET", "/v1/approvals", "approvals:read"],
  ["GET", "/v1/outcomes", "runs:operate"],
  ["GET", "/v1/feedback", "runs:operate"],
  ["GET", "/v1/escalations", "runs:operate"],
  ["POST", "/v1/escalations/esc_1", "runs:operate"],
  ["GET", "/v1/approvals/x", "approvals:read"],
  ["POST", "/v1/approvals/x/decisions", "approvals:decide"],
  ["POST", "/v1/approvals/decisions", "approvals:decide"],
  ["GET", "/v1/audit", "audit:read"],
])("%s %s takes the scope %s alone", async (method, path, scope) => {
  for (const caller of [
    "talker",
    "reader",
    "minter",
    "lister",
    "keeper",
    "supplier",
    "onlooker",
    "governor",
  ] as const) {
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

test("lets a caller with runs:read_all read a run, but neither cancel nor steer it", async () => {
  const runId = await ended();
  expect((await send(`/v1/runs/${runId}`, { caller: "reader" })).status).toBe(200);
  expect((await send(`/v1/runs/${runId}/events`, { caller: "reader" })).status).toBe(200);
});

test("lets an operator stop anybody's run, and not speak in their name", async () => {
  const response = await postChat(
    { messages: [{ role: "user", content: script({ text: ["hi"], hangs: true }) }] },
    "peer",
  );
  const runId = runIdOf(response);
  const said = await send(`/v1/runs/${runId}/messages`, {
    ...JSON_BODY,
    caller: "acme",
    body: '{"content":"x"}',
  });
  expect(said.status).toBe(404);
  const stopped = await send(`/v1/runs/${runId}/cancel`, { caller: "acme", method: "POST" });
  expect(await stopped.json()).toMatchObject({ status: "cancelled" });
  await response.text();
});

test("a delegate cannot steer a run that the person began with more authority", async () => {
  const say = (run: Response, caller: Caller): Promise<Response> =>
    send(`/v1/runs/${runIdOf(run)}/messages`, { ...JSON_BODY, caller, body: '{"content":"x"}' });
  const begun = await chat([{ text: ["hi"], hangs: true }], "acme");
  expect((await say(begun, "clerk")).status).toBe(404);
  const delegated = await chat([{ text: ["hi"], hangs: true }], "clerk");
  expect((await say(delegated, "clerk")).status).toBe(202);
  expect((await say(delegated, "acme")).status).toBe(202);
  for (const run of [begun, delegated]) {
    await send(`/v1/runs/${runIdOf(run)}/cancel`, { caller: "acme", method: "POST" });
    await run.text();
  }
});

test("a colleague's request to stop a run that goes stops nothing", async () => {
  const response = await postChat(
    { messages: [{ role: "user", content: script({ text: ["hi"], hangs: true }) }] },
    "acme",
  );
  const runId = runIdOf(response);
  const refused = await send(`/v1/runs/${runId}/cancel`, { caller: "peer", method: "POST" });
  expect(refused.status).toBe(404);
  expect(await stateOf(runId)).toMatchObject({ status: "running" });
  await send(`/v1/runs/${runId}/cancel`, { caller: "acme", method: "POST" });
  await response.text();
});

test("answers a colleague's run exactly as an unknown one, on every address", async () => {
  const foreign = await ended();
  const unknown = runIdOf(await postChat({ messages: [{ role: "user", content: "x" }] }, "rival"));
  const asks = (runId: string): Promise<Response>[] => [
    send(`/v1/runs/${runId}`, { caller: "peer" }),
    send(`/v1/runs/${runId}/events`, { caller: "peer" }),
    send(`/v1/runs/${runId}/events`, { caller: "peer", headers: { "last-event-id": "0-1" } }),
    send(`/v1/runs/${runId}/cancel`, { caller: "peer", method: "POST" }),
    send(`/v1/runs/${runId}/messages`, { ...JSON_BODY, caller: "peer", body: '{"content":"x"}' }),
    postChat({ messages: [{ role: "user", content: "x" }], previousRunId: runId }, "peer"),
  ];
  const tell = async (answer: Response): Promise<unknown> => [
    answer.status,
    [...answer.headers],
    await answer.text(),
  ];
  const ofForeign = await Promise.all((await Promise.all(asks(foreign))).map(tell));
  const ofUnknown = await Promise.all((await Promise.all(asks(unknown))).map(tell));
  expect(ofForeign).toEqual(ofUnknown);
  expect(ofForeign.map((told) => (told as unknown[])[0])).toEqual(ofForeign.map(() => 404));
});

test("wakes the object of a colleague's run no more than that of an unknown one", async () => {
  const foreign = await ended();
  await evictDurableObject(stubOf(foreign));
  const before = startsOfRuns();
  const asks = [
    send(`/v1/runs/${foreign}`, { caller: "peer" }),
    send(`/v1/runs/${foreign}/events`, { caller: "peer" }),
    send(`/v1/runs/${foreign}/cancel`, { caller: "peer", method: "POST" }),
    send(`/v1/runs/${foreign}/messages`, { ...JSON_BODY, caller: "peer", body: '{"content":"x"}' }),
    send(`/v1/runs/${foreign}/invocations/inv_1/images/1`, { caller: "peer" }),
    send(`/v1/runs/${foreign}/invocations/inv_1/compensate`, { caller: "peer", method: "POST" }),
    postChat({ messages: [{ role: "user", content: "x" }], previousRunId: foreign }, "peer"),
    postChat({ messages: [{ role: "user", content: "x" }], conversationId: foreign }, "peer"),
    ...["", "/messages", "/export"].map((path) =>
      send(`/v1/conversations/${foreign}${path}`, { caller: "peer" }),
    ),
    send(`/v1/conversations/${foreign}`, { caller: "peer", method: "DELETE" }),
    send(`/v1/conversations/${foreign}`, {
      ...JSON_BODY,
      caller: "peer",
      method: "PATCH",
      body: '{"title":"x"}',
    }),
    send(`/v1/conversations/${foreign}/feedback`, {
      ...JSON_BODY,
      caller: "peer",
      method: "PUT",
      body: '{"runId":"x","rating":"up"}',
    }),
  ];
  expect((await Promise.all(asks)).map(({ status }) => status)).toEqual(asks.map(() => 404));
  expect(startsOfRuns()).toBe(before);
  expect((await send(`/v1/runs/${foreign}`, { caller: "acme" })).status).toBe(200);
  expect(startsOfRuns()).toBe(before + 1);
});

test("answers a colleague's run as an unknown one also when it is no longer kept", async () => {
  const runId = await ended();
  await ring(runId, "retention");
  expect((await send(`/v1/runs/${runId}`, { caller: "acme" })).status).toBe(410);
  expect((await send(`/v1/runs/${runId}`, { caller: "peer" })).status).toBe(404);
  expect((await send(`/v1/runs/${runId}/events`, { caller: "peer" })).status).toBe(404);
});

test("two people who use one key each get their own run", async () => {
  const ask = async (caller: Caller): Promise<string> => {
    const response = await send("/v1/chat", {
      method: "POST",
      caller,
      headers: { "content-type": "application/json", "idempotency-key": "one-key" },
      body: JSON.stringify({ messages: [{ role: "user", content: script({ text: ["hi"] }) }] }),
    });
    await response.text();
    return runIdOf(response);
  };
  expect(await ask("acme")).not.toBe(await ask("peer"));
});

const JSON_BODY = { method: "POST", headers: { "content-type": "application/json" } } as const;

async function ended(): Promise<string> {
  const response = await chat([{ text: ["hi"] }]);
  await response.text();
  return runIdOf(response);
}

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

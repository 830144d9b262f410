import { beforeEach, describe, expect, test } from "vitest";
import { createEmbedTokens } from "../../src/adapters/identity/embed-tokens.ts";
import type { ActorId, TenantId } from "../../src/protocol/identity/ids.ts";
import { bearer } from "../shared/identity.ts";
import { APPROVE, decide, openOf, readApproval, REJECT, viewOf } from "../shared/people.ts";
import { untilState } from "../shared/run-object.ts";
import { script } from "../fakes/scripted-model.ts";
import { type Caller, govern, HOST_PAGE, putPolicy, runIdOf, send } from "../shared/worker.ts";

const TOOL = "core__generate_title";
const VICTOR = "user:victor" as ActorId;
const SCOPES = ["chat", "runs:read", "approvals:read", "approvals:decide"] as const;
const ORDER = { origin: HOST_PAGE, actorId: VICTOR, toolIds: [TOOL], scopes: SCOPES };
const JSON_TYPE = { "content-type": "application/json" };

const POLICY = {
  allowedTools: [TOOL],
  requireApprovalForEffects: ["state_change"],
  approvals: [{ pattern: "operator_review" }],
  origins: [HOST_PAGE],
  embedMinters: [{ actorId: "service:desk" }],
};

beforeEach(() => govern(POLICY));

/** Asks for a page token as a caller does. */
async function mint(caller: Caller, changes: object = {}): Promise<unknown> {
  const answer = await send("/v1/embed-tokens", {
    caller,
    method: "POST",
    headers: JSON_TYPE,
    body: JSON.stringify({ ...ORDER, ...changes }),
  });
  const { code, token } = await answer.json<{ code?: string; token?: string }>();
  return token === undefined ? [answer.status, code] : token;
}

/** Signs a page token of Victor as the Worker does, for any minter. */
async function signedBy(minter: string): Promise<string> {
  const tokens = createEmbedTokens({
    rootSecret: "a secret for tests, 32 bytes long",
    clock: { nowMs: () => Date.now(), schedule: () => () => undefined },
    randomId: () => "x",
  });
  const [tenantId, minterId] = ["bendable" as TenantId, minter as ActorId];
  return (await tokens.mint({ ...ORDER, tenantId, minterId, roles: [], ttlSeconds: 900 })).token;
}

/** Sends a request as the page would that holds the token. */
function ask(token: string, path: string, body?: object): Promise<Response> {
  const post = body && { method: "POST", body: JSON.stringify(body) };
  return send(path, { ...post, ...bearer(token, { origin: HOST_PAGE, ...JSON_TYPE }) });
}

/** Starts a run on a page in which the model makes one call that needs approval. */
async function askOnPage(token: string): Promise<{ runId: string; approvalId: string }> {
  const content = script({ calls: [{ name: TOOL, args: '{"title":"x"}' }] }, { text: ["done"] });
  const started = await ask(token, "/v1/chat", { messages: [{ role: "user", content }] });
  expect(started.status).toBe(200);
  const runId = runIdOf(started);
  const state = await untilState(runId, { status: "waiting" }, "bendable");
  return { runId, approvalId: openOf(state)[0] ?? "none" };
}

const reasonOf = async (answer: Response): Promise<unknown> => [
  answer.status,
  (await answer.json<{ reason?: string }>()).reason,
];

describe("who mints a page token, and for whom", () => {
  test("a person mints for themself only", async () => {
    for (const scopes of [SCOPES, ["chat", "runs:read"], ["runs:read"]]) {
      for (const actorId of ["user:victor", "user:Mallory"]) {
        expect(await mint("mallory", { scopes, actorId })).toEqual([403, "minting_not_allowed"]);
      }
      expect(await mint("mallory", { scopes, actorId: "user:mallory" })).toEqual(
        expect.any(String),
      );
    }
  });

  test.each(["user:deputy", "user:victor"])(
    "a person who acts for somebody mints for nobody, such as %s",
    async (actorId) => {
      expect(await mint("deputy", { actorId })).toEqual([403, "minting_not_allowed"]);
    },
  );

  test.each<[string, readonly object[], boolean]>([
    ["names no service", [], false],
    ["names another service", [{ actorId: "service:front" }], false],
    ["names the service for other people", [{ actorId: "service:desk", people: [] }], false],
    ["names the person", [{ actorId: "service:desk", people: ["user:victor"] }], true],
    ["names the service alone", [{ actorId: "service:desk" }], true],
  ])(
    "a service mints if its policy allows it: a policy that %s",
    async (_is, minters, isMinted) => {
      await govern({ ...POLICY, embedMinters: minters });
      const said = isMinted ? expect.any(String) : [403, "minting_not_allowed"];
      expect(await mint("desk")).toEqual(said);
    },
  );

  test.each<[string, readonly object[], readonly string[], boolean]>([
    ["gives the service no roles", [{ actorId: "service:desk" }], ["operator"], false],
    ["gives it another role", [{ actorId: "service:desk", roles: ["clerk"] }], ["operator"], false],
    [
      "gives it the role for other people",
      [{ actorId: "service:desk" }, { actorId: "service:desk", people: [], roles: ["operator"] }],
      ["operator"],
      false,
    ],
    ["gives it one of two", [{ actorId: "service:desk", roles: ["a"] }], ["a", "operator"], false],
    ["gives it the role", [{ actorId: "service:desk", roles: ["operator"] }], ["operator"], true],
  ])(
    "a service gives a role if its policy allows it: a policy that %s",
    async (_is, minters, roles, isMinted) => {
      await govern({ ...POLICY, embedMinters: minters });
      const said = isMinted ? expect.any(String) : [403, "minting_not_allowed"];
      expect(await mint("desk", { roles })).toEqual(said);
    },
  );

  test("a person passes on the roles that they have, and no others", async () => {
    const own = { actorId: "user:mallory" };
    expect(await mint("mallory", { ...own, roles: ["operator"] })).toEqual(expect.any(String));
    const refused = await mint("mallory", { ...own, roles: ["operator", "admin"] });
    expect(refused).toEqual([403, "minting_not_allowed"]);
  });

  test("a token with a role votes as that role, and one without does not", async () => {
    await govern({
      ...POLICY,
      approvals: [{ pattern: "operator_review", excludeRequester: false }],
      embedMinters: [{ actorId: "service:desk", roles: ["operator"] }],
    });
    const plain = String(await mint("desk"));
    const reviewer = String(await mint("desk", { roles: ["operator"] }));
    const { approvalId } = await askOnPage(plain);
    const path = `/v1/approvals/${approvalId}/decisions`;
    expect(await reasonOf(await ask(plain, path, APPROVE))).toEqual([403, "role_missing"]);
    expect((await ask(reviewer, path, APPROVE)).status).toBe(200);
  });

  test("a token that no run can use is refused, and says why", async () => {
    const allowedTools = [{ id: TOOL, scopes: ["titles:write"] }];
    await govern({ ...POLICY, allowedTools });
    expect(await mint("desk")).toEqual([422, "embed_token_unusable"]);
    expect(await mint("desk", { scopes: ["runs:read"] })).toEqual(expect.any(String));
  });

  test("a policy without embedMinters lets no service mint", async () => {
    const { embedMinters: _none, ...policy } = POLICY;
    await govern(policy);
    expect(await mint("desk")).toEqual([403, "minting_not_allowed"]);
  });

  test.each(["user:mallory", "agent:courier", "desk"])(
    "a policy does not name %s as a minter, because it is no service",
    async (actorId) => {
      const policy = { ...POLICY, embedMinters: [{ actorId }] };
      const refused = await putPolicy(policy, { caller: "bendable", "if-match": '"1"' });
      expect(refused.status).toBe(422);
    },
  );
});

describe("the minter of a page token is a requester of its runs", () => {
  test("so the minter does not approve them, and may reject them", async () => {
    const { approvalId } = await askOnPage(await signedBy("user:mallory"));
    expect(await reasonOf(await decide(approvalId, "mallory", APPROVE))).toEqual([
      403,
      "own_request",
    ]);
    const view = await readApproval(approvalId, "mallory");
    expect(await view.json()).toMatchObject({ mayDecide: false, mayNot: "own_request" });
    expect(await viewOf(approvalId, "oscar")).toMatchObject({ approvals: 0, status: "pending" });
    expect((await decide(approvalId, "mallory", REJECT)).status).toBe(200);
  });

  test("so the minter's id in other capitals does not approve them either", async () => {
    const { approvalId } = await askOnPage(await signedBy("user:MALLORY"));
    expect((await decide(approvalId, "mallory", APPROVE)).status).toBe(404);
    expect((await decide(approvalId, "oscar", APPROVE)).status).toBe(200);
  });

  test("so an edit by the minter is refused", async () => {
    const { approvalId } = await askOnPage(await signedBy("user:mallory"));
    const edit = { ...APPROVE, arguments: { title: "y" } };
    expect(await reasonOf(await decide(approvalId, "mallory", edit))).toEqual([403, "own_request"]);
  });

  test("so a bulk decision of the minter is refused", async () => {
    await govern({ ...POLICY, approvals: [{ pattern: "async_review" }] });
    const { approvalId } = await askOnPage(await signedBy("user:mallory"));
    const bulk = async (caller: Caller): Promise<unknown> => {
      const answer = await send("/v1/approvals/decisions", {
        caller,
        method: "POST",
        headers: JSON_TYPE,
        body: JSON.stringify({ decisions: [{ approvalId, ...APPROVE }] }),
      });
      return answer.json();
    };
    expect(await bulk("mallory")).toEqual({ results: [{ approvalId, code: "own_request" }] });
    expect(await bulk("oscar")).toEqual({ results: [{ approvalId, status: "approved" }] });
  });

  test("so the minter is none of several approvers", async () => {
    await govern({ ...POLICY, approvals: [{ pattern: "dual_control", roles: ["operator"] }] });
    const { approvalId } = await askOnPage(await signedBy("user:mallory"));
    expect((await decide(approvalId, "oscar", APPROVE)).status).toBe(200);
    expect((await decide(approvalId, "mallory", APPROVE)).status).toBe(403);
    expect(await viewOf(approvalId, "oscar")).toMatchObject({ approvals: 1, status: "pending" });
  });

  test("so the minter and the person of the token have one vote, where requesters vote", async () => {
    const rule = { pattern: "dual_control", roles: [], excludeRequester: false };
    await govern({ ...POLICY, approvals: [rule] });
    const { runId, approvalId } = await askOnPage(await signedBy("user:mallory"));
    for (const caller of ["victor", "mallory"] as const) {
      const answer = await decide(approvalId, caller, APPROVE);
      expect(await answer.json()).toMatchObject({ status: "pending", approvals: 1 });
    }
    expect(await (await decide(approvalId, "oscar", APPROVE)).json()).toMatchObject({
      status: "approved",
      approvals: 2,
    });
    await untilState(runId, { status: "completed" }, "bendable");
  });

  test("so the run, its approval and the audit log name the minter", async () => {
    const token = await mint("desk");
    const { runId, approvalId } = await askOnPage(String(token));
    expect(await viewOf(approvalId, "oscar")).toMatchObject({
      requestedBy: "user:victor",
      minterId: "service:desk",
    });
    const readRuns = async (): Promise<unknown> => {
      const { runs } = await (
        await send("/v1/runs", { caller: "bendable" })
      ).json<{
        runs: readonly { runId: string; minterId?: string }[];
      }>();
      return runs.find((run) => run.runId === runId)?.minterId;
    };
    await expect.poll(readRuns).toBe("service:desk");
    const readAudit = async (): Promise<unknown> => {
      const log = await send(`/v1/audit?run=${runId}`, { caller: "bendable" });
      const { records } = await log.json<{
        records: readonly { entry: { action: string; minterId?: string } }[];
      }>();
      return records.map(({ entry }) => [entry.action, entry.minterId]);
    };
    await expect.poll(readAudit).toEqual(
      expect.arrayContaining([
        ["run.started", "service:desk"],
        ["approval.requested", "service:desk"],
      ]),
    );
  });
});

import { SignJWT } from "jose";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { foundIssuer, type Issuer } from "../fakes/issuer.ts";
import { authOf, bearer, claimsOf, deploy, type Send } from "../shared/identity.ts";
import { script } from "../fakes/scripted-model.ts";
import { TOKENS } from "../shared/tokens.ts";
import { seedPolicies } from "../shared/worker.ts";
import { readJwtSettings } from "../../src/protocol/identity/jwt-settings.ts";
import { readPrincipal } from "../../src/protocol/identity/token-claims.ts";

let issuer: Issuer;
let send: Send;
beforeAll(async () => {
  await seedPolicies();
  issuer = await foundIssuer("identity");
  send = deploy({ AUTH: authOf({ algorithms: ["RS256"], jwksUrl: issuer.jwksUrl }) });
});

// The log says why a token is refused.
beforeEach(() => void vi.spyOn(console, "warn").mockImplementation(() => {}));

const tools = async (claims: Record<string, unknown>, header = {}): Promise<Response> =>
  send("/v1/tools", bearer(await issuer.sign(claims, header)));

test.each([
  ["one of the issuer", {}, {}],
  ["one that says its type", {}, { typ: "JWT" }],
  ["an access token", {}, { typ: "at+jwt" }],
  ["one for several audiences", { aud: ["other", "interlock-test"] }, {}],
  ["one whose subject says its kind", { sub: "service:ci" }, {}],
  ["one whose scopes are a list", { scope: ["tools:read", "mail:send"] }, {}],
  ["one without roles", { roles: undefined }, {}],
  ["one whose time has begun", { nbf: Math.floor(Date.now() / 1_000) - 1 }, {}],
  ["one with scopes that nobody here knows", { scope: "openid https://x/y tools:read" }, {}],
])("takes a token: %s", async (_name, claims, header) => {
  expect((await tools(claimsOf(claims), header)).status).toBe(200);
});

/** Subjects as identity providers write them. */
const SUBJECTS = [
  "auth0|5f7c8ec7c33c6c004bbafe82",
  "samlp|acme|ann@acme.example",
  "ann+work@acme.example",
  "repo:octo-org/octo:environment:prod",
  "spiffe://acme.example/ns/shop",
  "jN0Qv+9/aB==",
  "ann_gmail.com#EXT#@acme.example",
  "x".repeat(255),
];

test.each(SUBJECTS)("the subject %s is a person with runs of their own", async (sub) => {
  const scope = "chat runs:read runs:read_all";
  const token = await issuer.sign(claimsOf({ sub, scope }));
  const run = await start(token, "key-of-subjects");
  const runId = run.headers.get("x-run-id");
  await run.text();
  const listed = async (): Promise<unknown> => {
    const query = new URLSearchParams({ actor: `user:${sub}` });
    const answer = await send(`/v1/runs?${query.toString()}`, bearer(token));
    const { runs } = await answer.json<{ runs: readonly { runId: string; actorId: string }[] }>();
    return runs.map((one) => [one.runId, one.actorId]);
  };
  await expect.poll(listed).toEqual([[runId, `user:${sub}`]]);
});

test("subjects that differ in one character are different people everywhere", async () => {
  const subs = ["ann|b", "ann+b", "ann:b", "ann/b", "ann=b", "ann~b", "ann#b", "ANN|b", "ann"];
  const tokens = await Promise.all(subs.map((sub) => issuer.sign(claimsOf({ sub }))));
  const runs = await Promise.all(tokens.map((token) => start(token, "key-of-everybody")));
  const runIds = runs.map(({ headers }) => headers.get("x-run-id"));
  await Promise.all(runs.map((run) => run.text()));
  expect(new Set(runIds).size).toBe(subs.length);
  for (const [at, token] of tokens.entries()) {
    const answers = await Promise.all(
      runIds.map((runId) => send(`/v1/runs/${runId}`, bearer(token))),
    );
    expect(answers.map(({ status }) => status)).toEqual(
      runIds.map((_, other) => (other === at ? 200 : 404)),
    );
  }
});

test("scopes stand in scope and in scp, as a text or as a list", async () => {
  for (const claims of [{ scp: "tools:read" }, { scp: ["tools:read"] }]) {
    expect((await tools(claimsOf({ ...claims, scope: undefined }))).status).toBe(200);
    expect((await tools(claimsOf({ ...claims, scope: "chat" }))).status).toBe(200);
  }
  expect((await tools(claimsOf({ scp: "chat", scope: undefined }))).status).toBe(403);
  expect((await tools(claimsOf({ scp: { "tools:read": true } }))).status).toBe(401);
});

describe("groups of the issuer", () => {
  const groups = {
    "Finance Team": { roles: ["finance"], scopes: ["tools:read"] },
    "App.Reader": { scopes: ["policy:read"] },
  };

  /** Asks with a token of these claims; answers what it may do, and what the log says. */
  async function ask(claims: object, settings: object = { groups }) {
    const auth = { algorithms: ["RS256"], jwksUrl: issuer.jwksUrl, ...settings };
    const at = deploy({ AUTH: authOf(auth) });
    const lines: string[] = [];
    const warn = vi.spyOn(console, "warn").mockImplementation((line) => void lines.push(line));
    const token = await issuer.sign(claimsOf({ scope: "chat", roles: [], ...claims }));
    const paths = ["/v1/tools", "/v1/policy", "/v1/tools"];
    const status: number[] = [];
    for (const path of paths) status.push((await at(path, bearer(token))).status);
    warn.mockRestore();
    return { status, log: lines.map((line) => (JSON.parse(line) as { detail: string }).detail) };
  }

  test.each<[string, object, object, readonly number[]]>([
    [
      "a list gives what each group has",
      { groups: ["Finance Team", "App.Reader"] },
      {},
      [200, 200],
    ],
    ["a text is one group", { groups: "Finance Team" }, {}, [200, 403]],
    ["a role with the name of a group gives the same", { roles: ["App.Reader"] }, {}, [403, 200]],
    ["another claim", { teams: ["Finance Team"] }, { groupsClaim: "teams" }, [200, 403]],
    ["nobody is in none", {}, {}, [403, 403]],
  ])("give roles and scopes: %s", async (_name, claims, settings, expected) => {
    const { status, log } = await ask(claims, { groups, ...settings });
    expect([status.slice(0, 2), log]).toEqual([expected, []]);
  });

  test("and roles that give nothing are in the log, once for each token", async () => {
    const strange = [
      "constructor",
      "Sales\u202e",
      ...Array.from({ length: 20 }, (_, at) => `g${at}`),
    ];
    const { status, log } = await ask({ groups: strange, roles: ["Finance", "approver"] });
    expect(status).toEqual([403, 403, 403]);
    expect(log).toHaveLength(1);
    expect(log[0]).toMatch(/: "Finance", "constructor", "Sales\?", "g0", .*"g6" and 13 more$/);
    expect((await ask({ groups: strange, roles: ["Finance"] }, {})).log).toEqual([
      'a token has roles or groups that give nothing: "Finance"',
    ]);
  });

  test("give the roles of the map, and never a role or scope of their own name", () => {
    const settings = readJwtSettings(authOf({ algorithms: ["HS256"], groups }), "s".repeat(32));
    if (!settings.ok) throw new Error(settings.failure);
    const held = ["Finance Team", "approver", "policy:write"];
    const found = readPrincipal(claimsOf({ groups: held, roles: "clerk" }), settings.value);
    expect(found).toMatchObject({
      value: {
        principal: { roles: ["clerk", "finance"], scopes: expect.not.arrayContaining(held) },
        unknown: ["approver", "policy:write"],
      },
    });
  });

  test("that are no list of names make the token invalid", async () => {
    expect((await ask({ groups: { "Finance Team": true } })).status).toEqual([401, 401, 401]);
  });
});

test("a static token stays valid beside the issuer's tokens", async () => {
  expect((await send("/v1/tools", bearer(TOKENS.acme.token))).status).toBe(200);
  expect((await send("/v1/tools", bearer("token-of-nobody"))).status).toBe(401);
});

test("the tenant, the actor and the scopes of a request are those of its token", async () => {
  const token = await issuer.sign(claimsOf({ tenant: "bare", scope: "tools:read" }));
  expect(await (await send("/v1/tools", bearer(token))).json()).toEqual({ tools: [] });
  expect((await send("/v1/policy", bearer(token))).status).toBe(403);
});

test("claims are read under the names that the deployment gives them", async () => {
  const names = {
    tenantClaim: "https://acme.example/org",
    subjectClaim: "email",
    scopesClaim: "scp",
  };
  const other = deploy({
    AUTH: authOf({ algorithms: ["RS256"], jwksUrl: issuer.jwksUrl, ...names }),
  });
  const claims = {
    "https://acme.example/org": "acme",
    email: "ann@acme.example",
    scp: ["tools:read"],
  };
  const token = await issuer.sign(claimsOf(claims));
  expect((await other("/v1/tools", bearer(token))).status).toBe(200);
  const usual = await issuer.sign(claimsOf());
  expect((await other("/v1/tools", bearer(usual))).status).toBe(401);
});

test("a run belongs to the person an agent acts for, not to its other persons", async () => {
  const agent = (sub: string): Promise<string> =>
    issuer.sign(claimsOf({ sub, act: { sub: "helper" } }));
  const [forAnn, forBob, ann] = [
    await agent("ann"),
    await agent("bob"),
    await issuer.sign(claimsOf()),
  ];
  const run = await start(forAnn, "key-of-the-agent");
  const runId = run.headers.get("x-run-id");
  await run.text();
  expect((await send(`/v1/runs/${runId}`, bearer(forAnn))).status).toBe(200);
  expect((await send(`/v1/runs/${runId}`, bearer(ann))).status).toBe(200);
  expect((await send(`/v1/runs/${runId}`, bearer(forBob))).status).toBe(404);
  const again = await start(forBob, "key-of-the-agent");
  expect(again.status).toBe(200);
  expect(again.headers.get("x-run-id")).not.toBe(runId);
  await again.text();
});

function start(token: string, key: string): Promise<Response> {
  const { headers } = bearer(token, { "content-type": "application/json", "idempotency-key": key });
  const messages = [{ role: "user", content: script({ text: ["hi"] }) }];
  const body = JSON.stringify({ messages });
  return send("/v1/chat", { method: "POST", body, ...(headers && { headers }) });
}

describe("the issuer's keys", () => {
  const deployed = (of: Issuer, algorithms = ["RS256"]): Send =>
    deploy({ AUTH: authOf({ algorithms, jwksUrl: of.jwksUrl }) });
  const ask = (at: Send, token: string): Promise<Response> => at("/v1/tools", bearer(token));

  test.each(["ES256", "PS256", "EdDSA"])(
    "sign with %s where the deployment says so",
    async (alg) => {
      const own = await foundIssuer("algorithm", alg);
      const token = await own.sign(claimsOf());
      expect((await ask(deployed(own, [alg]), token)).status).toBe(200);
      expect((await ask(deployed(own, ["RS256"]), token)).status).toBe(401);
    },
  );

  test("are asked for once for many requests at a time", async () => {
    const own = await foundIssuer("many");
    const at = deployed(own);
    const token = await own.sign(claimsOf());
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(at, token)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(await own.asked()).toBe(1);
  });

  test("unknown key ids do not make it be asked again and again", async () => {
    const own = await foundIssuer("unknown");
    const at = deployed(own);
    expect((await ask(at, await own.sign(claimsOf()))).status).toBe(200);
    for (let nth = 0; nth < 20; nth++) {
      const token = await own.sign(claimsOf(), { kid: `made-up-${nth}` });
      expect((await ask(at, token)).status).toBe(401);
    }
    expect(await own.asked()).toBe(1);
  });

  test("stay valid while it is unreachable, and no new key is accepted", async () => {
    const own = await foundIssuer("away");
    const at = deployed(own);
    const token = await own.sign(claimsOf());
    expect((await ask(at, token)).status).toBe(200);
    await own.fail(500);
    expect((await ask(at, token)).status).toBe(200);
    const late = await ask(deployed(own), token);
    expect([late.status, late.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await late.json()).toMatchObject({ code: "identity_unavailable" });
  });

  test("a response that is no key set admits no token", async () => {
    for (const body of ["", "{}", '{"keys":{}}', "[]", '{"keys":[null]}', "a".repeat(200_000)]) {
      const own = await foundIssuer("garbled");
      await fetch(own.jwksUrl, { method: "PUT", body });
      expect((await ask(deployed(own), await own.sign(claimsOf()))).status).toBe(503);
    }
  });
});

describe("a shared secret", () => {
  const secret = "a shared secret of 32 bytes or more";
  const sign = (claims: Record<string, unknown>, key = secret): Promise<string> =>
    new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(new TextEncoder().encode(key));

  test("signs tokens where the deployment uses HS256, and no other secret does", async () => {
    const at = deploy({ AUTH: authOf({ algorithms: ["HS256"] }), JWT_SECRET: secret });
    expect((await at("/v1/tools", bearer(await sign(claimsOf())))).status).toBe(200);
    const forged = await sign(claimsOf(), `${secret}.`);
    expect((await at("/v1/tools", bearer(forged))).status).toBe(401);
  });

  test("needs no list of static tokens beside it", async () => {
    const auth = { AUTH: authOf({ algorithms: ["HS256"] }), JWT_SECRET: secret };
    const at = deploy({ ...auth, API_TOKENS: undefined });
    expect((await at("/v1/tools", bearer(await sign(claimsOf())))).status).toBe(200);
    expect((await at("/v1/tools", bearer(TOKENS.acme.token))).status).toBe(401);
  });
});

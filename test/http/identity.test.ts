import { SignJWT } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { foundIssuer, type Issuer } from "../fakes/issuer.ts";
import { authOf, bearer, claimsOf, deploy, type Send } from "../shared/identity.ts";
import { script } from "../fakes/scripted-model.ts";
import { TOKENS } from "../shared/tokens.ts";
import { seedPolicies } from "../shared/worker.ts";

let issuer: Issuer;
let send: Send;
beforeAll(async () => {
  await seedPolicies();
  issuer = await foundIssuer("identity");
  send = deploy({ AUTH: authOf({ algorithms: ["RS256"], jwksUrl: issuer.jwksUrl }) });
});

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

import { env, waitUntil } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { composeWorker } from "../src/compose/worker.ts";
import { checkEnv, type RawEnv } from "../src/env.ts";
import type { ModelDeclaration } from "../src/protocol/model/declaration.ts";
import { deploymentOf } from "./shared/deployment.ts";

const sound = { ...(env as unknown as RawEnv) };
const without = (name: string): RawEnv => ({ ...sound, [name]: undefined });

test("the bindings of this project are accepted", () => {
  expect(checkEnv(sound)).toMatchObject({ ok: true });
});

const LIFETIMES = [
  "RUN_RETENTION_SECONDS",
  "KEY_RETENTION_SECONDS",
  "AUDIT_RETENTION_SECONDS",
  "CONVERSATION_RETENTION_SECONDS",
  "OUTCOME_WAIT_SECONDS",
];
/** The Worker checks it together with the upstreams that the code binds. */
const UPSTREAM = "SHOP_URL";
const SEGMENT_BYTES = "AUDIT_SEGMENT_BYTES";
const LIMITS = ["CALLER_LIMIT", "ADDRESS_LIMIT"];
/** The Worker checks it together with the workspaces that the deployment hosts. */
const WORKSPACES = "WORKSPACES";
const optional = new Set([...LIFETIMES, ...LIMITS, SEGMENT_BYTES, UPSTREAM, WORKSPACES]);
/** The Worker checks these together with the models that the code declares. */
const isOfModels = (name: string): boolean => /^MODELS$|_BASE_URL$|_API_KEY$/.test(name);
/** The Worker checks these together with the traces that the deployment names. */
const isOfTraces = (name: string): boolean => name.startsWith("OTEL_");
const required = Object.keys(sound).filter(
  (name) => !name.startsWith("__") && !optional.has(name) && !isOfModels(name) && !isOfTraces(name),
);

test.each(LIMITS)("without %s nothing is limited", (name) => {
  expect(checkEnv(without(name))).toMatchObject({ ok: true });
});

test.each(LIFETIMES)("without %s a default holds", (name) => {
  expect(checkEnv(without(name))).toEqual(checkEnv(sound));
});

test.each(required)("the failure names %s when it is missing", (name) => {
  const checked = checkEnv(without(name));
  expect(checked.ok ? [] : checked.failure.problems.join()).toContain(name);
});

test.each([
  ["RUN_ID_SECRET", "too short"],
  ["API_TOKENS", "[]"],
  ["API_TOKENS", "{}"],
  ["API_TOKENS", '[{"sha256":"x","tenantId":"a","actorId":"user:a","scopes":[]}]'],
  ["CONNECTION_KEYS", "[]"],
  ["CONNECTION_KEYS", "{}"],
  ["CONNECTION_KEYS", `[{"id":"a","key":"${"A".repeat(42)}="}]`],
  ["CONNECTION_KEYS", `[{"id":"a","key":"${"A".repeat(43)}"}]`],
  ["CONNECTION_KEYS", `[{"id":"a","key":"${"A".repeat(43)}=","use":"seal"}]`],
  ["CONNECTION_KEYS", `[${`,{"id":"a","key":"${"A".repeat(43)}="}`.repeat(2).slice(1)}]`],
  [SEGMENT_BYTES, "5000"],
  ["OUTCOME_WAIT_SECONDS", "0"],
  ["RUN_RETENTION_SECONDS", "59"],
  ["KEY_RETENTION_SECONDS", "1.5"],
  ["KEY_RETENTION_SECONDS", "59"],
  ["OUTCOME_WAIT_SECONDS", "1e3"],
  ["OUTCOME_WAIT_SECONDS", "1000000000"],
  ["DEVELOPER", '{"tenantId":"../x","actorId":"user:a","scopes":[]}'],
  [
    "DEVELOPER",
    '{"principal":{"tenantId":"x","actorId":"user:a","scopes":[]},"secret":"too short"}',
  ],
])("%s = %j is refused, and the value is not repeated", (name, value) => {
  const checked = checkEnv({ ...sound, [name]: value });
  const problems = checked.ok ? [] : checked.failure.problems;
  expect(problems).toEqual([
    expect.stringMatching(new RegExp(`^${name} is not valid. Set it to `)),
  ]);
  expect(problems[0]).not.toContain(value);
});

const AUTH = { issuer: "https://issuer.test", audience: "interlock" };
const JWKS = { jwksUrl: "https://issuer.test/jwks" };
const LONG = "a secret of at least 32 characters";
test.each([
  ["not JSON", "{", LONG, "AUTH is not valid. Set it as docs/identity.md says"],
  [
    "no algorithm",
    { ...AUTH, algorithms: [] },
    LONG,
    "AUTH is not valid at algorithms. Set it as docs/identity.md says",
  ],
  [
    "an algorithm that signs nothing",
    { ...AUTH, algorithms: ["none"] },
    LONG,
    "AUTH is not valid at algorithms.0. Set it as docs/identity.md says",
  ],
  [
    "no audience",
    { issuer: "x", algorithms: ["HS256"] },
    LONG,
    "AUTH is not valid at audience. Set it as docs/identity.md says",
  ],
  [
    "an unknown field",
    { ...AUTH, algorithms: ["HS256"], x: 1 },
    LONG,
    "AUTH is not valid at x. Set it as docs/identity.md says",
  ],
  [
    "a group with a role that no policy can name",
    { ...AUTH, algorithms: ["HS256"], groups: { Finance: { roles: ["Finance"] } } },
    LONG,
    "AUTH is not valid at groups.Finance.roles.0. Set it as docs/identity.md says",
  ],
  [
    "keys over plain HTTP",
    { ...AUTH, algorithms: ["RS256"], jwksUrl: "http://issuer.test/" },
    undefined,
    "AUTH is not valid at jwksUrl. Set it as docs/identity.md says",
  ],
  [
    "algorithms of both kinds",
    { ...AUTH, algorithms: ["HS256", "RS256"], ...JWKS },
    LONG,
    "AUTH mixes HS256 with public-key algorithms. Name one kind only",
  ],
  [
    "HS256 with a jwksUrl",
    { ...AUTH, algorithms: ["HS256"], ...JWKS },
    LONG,
    "AUTH names HS256, which takes no jwksUrl. Remove the jwksUrl",
  ],
  [
    "HS256 without its secret",
    { ...AUTH, algorithms: ["HS256"] },
    undefined,
    "JWT_SECRET is missing. HS256 in AUTH needs it",
  ],
  [
    "a short secret",
    { ...AUTH, algorithms: ["HS256"] },
    "30 characters are not enough..",
    "JWT_SECRET is shorter than 32 bytes. Use a longer secret",
  ],
  [
    "public-key algorithms without a jwksUrl",
    { ...AUTH, algorithms: ["RS256"] },
    undefined,
    "AUTH has no jwksUrl. Its algorithms need one",
  ],
  [
    "a secret without HS256",
    { ...AUTH, algorithms: ["RS256"], ...JWKS },
    LONG,
    "JWT_SECRET is set, but AUTH does not name HS256. Remove the secret",
  ],
])("the failure names the mistake in AUTH: %s", (_name, auth, secret, problem) => {
  const text = typeof auth === "string" ? auth : JSON.stringify(auth);
  const checked = checkEnv({ ...sound, AUTH: text, JWT_SECRET: secret?.slice(0, 33) });
  expect(checked).toEqual({ ok: false, failure: { problems: [problem] } });
});

test("with AUTH set, API_TOKENS may be missing but not invalid", () => {
  const AUTH_TEXT = JSON.stringify({ ...AUTH, ...JWKS, algorithms: ["RS256"] });
  const auth = { ...sound, AUTH: AUTH_TEXT };
  expect(checkEnv({ ...auth, API_TOKENS: undefined })).toMatchObject({ ok: true });
  expect(checkEnv({ ...auth, API_TOKENS: "[]" })).toMatchObject({ ok: false });
});

test("a deployment without tokens answers every request with 503 and the reason", async () => {
  const handle = composeWorker(without("API_TOKENS"), deploymentOf([]), waitUntil);
  for (const path of ["/", "/healthz", "/v1/chat", "/v1/tools"]) {
    const response = await handle(new Request(`https://interlock.test${path}`));
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      code: "not_configured",
      detail: expect.stringContaining("API_TOKENS"),
    });
  }
});

/** Composes the product with changed bindings and says why the Worker does not start. */
async function refusalOf(changes: RawEnv, models: readonly ModelDeclaration[] = []) {
  const handle = composeWorker({ ...sound, ...changes }, deploymentOf([], { models }), waitUntil);
  const response = await handle(new Request("https://interlock.test/healthz"));
  return response.ok ? "" : (await response.json<{ detail: string }>()).detail;
}

describe("the models of a deployment", () => {
  test.each(Object.keys(sound).filter(isOfModels))("are refused without %s", async (name) => {
    expect(await refusalOf({ [name]: undefined })).toContain(`${name} is missing`);
  });

  test.each([
    ["OPENAI_BASE_URL", "ftp://x"],
    ["OPENAI_BASE_URL", "not a url"],
    ["MODELS", " , "],
  ])("are refused with %s = %j, and the value is not repeated", async (name, value) => {
    const refusal = await refusalOf({ [name]: value });
    expect(refusal).toMatch(new RegExp(`^${name} is not valid. Set it to `));
    expect(refusal).not.toContain(value);
  });

  test("need the settings of the models that are used, fallbacks included, and no others", async () => {
    const spare: ModelDeclaration = { id: "spare", wire: "anthropic", secret: "SPARE_API_KEY" };
    const first: ModelDeclaration = { id: "first", wire: "openai", fallback: ["spare"] };
    const only = { MODELS: "first", ANTHROPIC_API_KEY: undefined };
    expect(await refusalOf(only, [first, spare])).toMatch(/^SPARE_API_KEY is missing\. See/);
    expect(await refusalOf({ ...only, SPARE_API_KEY: "k" }, [first, spare])).toBe("");
    expect(await refusalOf(only, [{ ...first, fallback: [] }, spare])).toBe("");
  });

  test("stop the Worker with the reason when a declaration is wrong", async () => {
    const wrong: ModelDeclaration = { id: "first", wire: "openai", fallback: ["nobody"] };
    expect(await refusalOf({}, [wrong])).toContain("the fallback nobody, which nothing declares");
  });

  test("cannot make a secret of another purpose a provider's key", async () => {
    const thief: ModelDeclaration = { id: "x", wire: "openai", secret: "RUN_ID_SECRET" };
    expect(await refusalOf({ MODELS: "x" }, [thief])).toContain("a name ending in _API_KEY");
  });
});

test("a deployed Worker has no development principal", async () => {
  const handle = composeWorker(sound, deploymentOf([]), waitUntil);
  const response = await handle(new Request("http://localhost/v1/tools"));
  expect(response.status).toBe(401);
});

import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { composeWorker } from "../src/compose/worker.ts";
import { checkEnv, type RawEnv } from "../src/env.ts";

const sound = { ...(env as unknown as RawEnv) };
const without = (name: string): RawEnv => ({ ...sound, [name]: undefined });

test("accepts the bindings of this project", () => {
  expect(checkEnv(sound)).toMatchObject({ ok: true });
});

const LIFETIMES = ["RUN_RETENTION_SECONDS", "KEY_RETENTION_SECONDS", "OUTCOME_WAIT_SECONDS"];
const LIMITS = ["CALLER_LIMIT", "ADDRESS_LIMIT"];
const optional = new Set([...LIFETIMES, ...LIMITS]);
const required = Object.keys(sound).filter((name) => !name.startsWith("__") && !optional.has(name));

test.each(LIMITS)("limits nothing without %s", (name) => {
  expect(checkEnv(without(name))).toMatchObject({ ok: true });
});

test.each(LIFETIMES)("does without %s", (name) => {
  expect(checkEnv(without(name))).toEqual(checkEnv(sound));
});

test.each(required)("names %s when it is missing", (name) => {
  const checked = checkEnv(without(name));
  expect(checked.ok ? [] : checked.failure.problems.join()).toContain(name);
});

test.each([
  ["OPENAI_BASE_URL", "ftp://x"],
  ["OPENAI_BASE_URL", "not a url"],
  ["MODELS", " , "],
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
  ["RUN_RETENTION_SECONDS", "0"],
  ["KEY_RETENTION_SECONDS", "1.5"],
  ["OUTCOME_WAIT_SECONDS", "1e3"],
  ["OUTCOME_WAIT_SECONDS", "1000000000"],
  ["DEV_PRINCIPAL", '{"tenantId":"../x","actorId":"user:a","scopes":[]}'],
])("refuses %s = %j and never repeats it", (name, value) => {
  const checked = checkEnv({ ...sound, [name]: value });
  expect(checked).toEqual({ ok: false, failure: { problems: [`${name} is not valid`] } });
});

const AUTH = { issuer: "https://issuer.test", audience: "interlock" };
const JWKS = { jwksUrl: "https://issuer.test/jwks" };
const LONG = "a secret of at least 32 characters";
test.each([
  ["not JSON", "{", LONG, "AUTH is not valid"],
  ["no algorithm", { ...AUTH, algorithms: [] }, LONG, "AUTH is not valid"],
  ["an algorithm that signs nothing", { ...AUTH, algorithms: ["none"] }, LONG, "AUTH is not valid"],
  ["no audience", { issuer: "x", algorithms: ["HS256"] }, LONG, "AUTH is not valid"],
  [
    "a field that nobody knows",
    { ...AUTH, algorithms: ["HS256"], x: 1 },
    LONG,
    "AUTH is not valid",
  ],
  [
    "keys over an open line",
    { ...AUTH, algorithms: ["RS256"], jwksUrl: "http://issuer.test/" },
    undefined,
    "AUTH is not valid",
  ],
  [
    "keys of both kinds",
    { ...AUTH, algorithms: ["HS256", "RS256"], ...JWKS },
    LONG,
    "AUTH mixes HS256 with algorithms of public keys",
  ],
  [
    "a secret's algorithm with public keys",
    { ...AUTH, algorithms: ["HS256"], ...JWKS },
    LONG,
    "AUTH names HS256, and a jwksUrl that it has no use for",
  ],
  [
    "HS256 without its secret",
    { ...AUTH, algorithms: ["HS256"] },
    undefined,
    "JWT_SECRET is missing, which HS256 in AUTH needs",
  ],
  [
    "a short secret",
    { ...AUTH, algorithms: ["HS256"] },
    "30 characters are not enough..",
    "JWT_SECRET is shorter than 32 bytes",
  ],
  [
    "public keys from nowhere",
    { ...AUTH, algorithms: ["RS256"] },
    undefined,
    "AUTH has no jwksUrl, which its algorithms need",
  ],
  [
    "a secret for nothing",
    { ...AUTH, algorithms: ["RS256"], ...JWKS },
    LONG,
    "JWT_SECRET is there, and AUTH does not name HS256",
  ],
])("names the mistake in AUTH: %s", (_name, auth, secret, problem) => {
  const text = typeof auth === "string" ? auth : JSON.stringify(auth);
  const checked = checkEnv({ ...sound, AUTH: text, JWT_SECRET: secret?.slice(0, 33) });
  expect(checked).toEqual({ ok: false, failure: { problems: [problem] } });
});

test("does without API_TOKENS where AUTH says who is known, and refuses bad ones", () => {
  const AUTH_TEXT = JSON.stringify({ ...AUTH, ...JWKS, algorithms: ["RS256"] });
  const auth = { ...sound, AUTH: AUTH_TEXT };
  expect(checkEnv({ ...auth, API_TOKENS: undefined })).toMatchObject({ ok: true });
  expect(checkEnv({ ...auth, API_TOKENS: "[]" })).toMatchObject({ ok: false });
});

test("a deployment without tokens answers 503 with the reason, whatever is asked", async () => {
  const handle = composeWorker(without("API_TOKENS"), []);
  for (const path of ["/", "/healthz", "/v1/chat", "/v1/tools"]) {
    const response = await handle(new Request(`https://interlock.test${path}`));
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      code: "not_configured",
      detail: expect.stringContaining("API_TOKENS"),
    });
  }
});

test("a deployed Worker knows no development principal", async () => {
  const handle = composeWorker(sound, []);
  const response = await handle(new Request("http://localhost/v1/tools"));
  expect(response.status).toBe(401);
});

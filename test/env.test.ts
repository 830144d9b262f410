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
const required = Object.keys(sound).filter(
  (name) => !name.startsWith("__") && !LIFETIMES.includes(name),
);

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

import { exportJWK, generateKeyPair } from "jose";
import { beforeEach, expect, test } from "vitest";
import { JwksKeys } from "../../../src/adapters/identity/jwks-keys.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let nowMs = 0;
let fetches = 0;
let isAnswering = true;
let served = "";

/** Timers never fire, as those of a request that the platform ended. */
const clock = { nowMs: () => nowMs, schedule: () => () => undefined };
const fetch = (): Promise<Response> => {
  fetches++;
  return isAnswering ? Promise.resolve(new Response(served)) : new Promise(() => undefined);
};
async function hasKey(keys: JwksKeys, kid: string): Promise<boolean> {
  try {
    await keys.resolver({ alg: "ES256", kid }, { payload: "", signature: "" });
    return true;
  } catch {
    return false;
  }
}

async function serve(...kids: readonly string[]): Promise<void> {
  const { publicKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), alg: "ES256" };
  const keys = kids.map((kid) => Object.assign({ kid }, jwk));
  served = JSON.stringify({ keys });
}

beforeEach(() => {
  nowMs = DAY_MS;
  fetches = 0;
  isAnswering = true;
});

test("a caller who leaves while the keys are fetched keeps no revoked key valid", async () => {
  await serve("kept", "revoked");
  const keys = new JwksKeys("https://issuer.test/jwks", {
    fetch,
    clock,
    keepAlive: () => undefined,
  });
  expect(await hasKey(keys, "revoked")).toBe(true);
  // The platform ends the request of this caller: neither its fetch nor its timer returns.
  nowMs += 11 * MINUTE_MS;
  isAnswering = false;
  void hasKey(keys, "kept");
  await serve("kept");
  isAnswering = true;
  nowMs += MINUTE_MS;
  expect(await hasKey(keys, "revoked")).toBe(false);
  expect(await hasKey(keys, "kept")).toBe(true);
  expect(fetches).toBe(3);
});

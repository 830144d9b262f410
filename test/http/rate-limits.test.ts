import { beforeAll, expect, test } from "vitest";
import { bearer, deploy } from "../shared/identity.ts";
import { TOKENS } from "../shared/tokens.ts";
import { HOST_PAGE, seedPolicies } from "../shared/worker.ts";

beforeAll(seedPolicies);

/** A binding that admits each key so often. */
function limitOf(times: number): { readonly keys: string[]; readonly limit: RateLimit["limit"] } {
  const keys: string[] = [];
  return {
    keys,
    limit: async ({ key }) => {
      keys.push(key);
      return { success: keys.filter((known) => known === key).length <= times };
    },
  };
}

const ask = { ...bearer(TOKENS.acme.token) };
const from = (address: string, headers: Record<string, string> = {}): RequestInit => ({
  headers: { ...headers, "cf-connecting-ip": address },
});

test("a caller over its limit gets a time to retry, and no other caller does", async () => {
  const binding = limitOf(3);
  const send = deploy({ CALLER_LIMIT: binding });
  for (let nth = 0; nth < 3; nth++) expect((await send("/v1/tools", ask)).status).toBe(200);
  const refused = await send("/v1/tools", ask);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
  expect(await refused.json()).toMatchObject({ code: "rate_limited" });
  expect((await send("/v1/tools", bearer(TOKENS.lister.token))).status).toBe(200);
  expect((await send("/v1/tools", bearer(TOKENS.rival.token))).status).toBe(200);
  expect(new Set(binding.keys)).toEqual(
    new Set(["acme/user:acme", "acme/user:lister", "rival/user:rival"]),
  );
});

test("an address that brings no token that is known is told so too, and those that do are not counted", async () => {
  const binding = limitOf(2);
  const send = deploy({ ADDRESS_LIMIT: binding });
  const statusOf = async (init: RequestInit): Promise<number> =>
    (await send("/v1/tools", init)).status;
  expect(await statusOf(from("192.0.2.1"))).toBe(401);
  expect(await statusOf(from("192.0.2.1", { authorization: "Bearer x" }))).toBe(401);
  expect(await statusOf(from("192.0.2.1", { authorization: "Bearer y" }))).toBe(429);
  expect(await statusOf(from("192.0.2.2"))).toBe(401);
  const authorization = `Bearer ${TOKENS.acme.token}`;
  expect(await statusOf(from("192.0.2.1", { authorization }))).toBe(200);
  expect(binding.keys).not.toContain(authorization);
});

test("preflights that are refused count against their address as well", async () => {
  const send = deploy({ ADDRESS_LIMIT: limitOf(1) });
  const preflight = async (origin: string): Promise<number> => {
    const init = from("192.0.2.1", { origin, "access-control-request-method": "POST" });
    return (await send("/v1/chat", { ...init, method: "OPTIONS" })).status;
  };
  expect(await preflight("https://evil.example")).toBe(403);
  expect(await preflight("https://evil.example")).toBe(429);
  expect(await preflight(HOST_PAGE)).toBe(204);
});

test.each(["https://evil.example", "null"])(
  "requests of the foreign origin %s count against the limit of their caller",
  async (origin) => {
    const send = deploy({ CALLER_LIMIT: limitOf(1) });
    const foreign = bearer(TOKENS.acme.token, { origin });
    expect((await send("/v1/tools", foreign)).status).toBe(403);
    const refused = await send("/v1/tools", foreign);
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([
      429,
      null,
    ]);
    expect((await send("/v1/tools", ask)).status).toBe(429);
  },
);

test("a page may read that it has asked too often", async () => {
  const send = deploy({ CALLER_LIMIT: limitOf(0) });
  const refused = await send("/v1/tools", bearer(TOKENS.hosted.token, { origin: HOST_PAGE }));
  expect(refused.status).toBe(429);
  expect(refused.headers.get("access-control-allow-origin")).toBe(HOST_PAGE);
});

test("where no limit is bound, or it fails, nothing is limited", async () => {
  const broken = { limit: () => Promise.reject(new Error("down")) };
  const changes = [
    { CALLER_LIMIT: undefined, ADDRESS_LIMIT: undefined },
    { CALLER_LIMIT: broken, ADDRESS_LIMIT: broken },
  ];
  for (const change of changes) {
    const send = deploy(change);
    expect((await send("/v1/tools", ask)).status).toBe(200);
    expect((await send("/v1/tools", from("192.0.2.1"))).status).toBe(401);
  }
});

test.each([
  ["2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"],
  ["2001:DB8:0001:2:3:4:5:6", "2001:db8:1:2::"],
  ["::1", "0:0:0:0:a:b:c:d"],
])("addresses of one IPv6 network are one: %s and %s", async (one, other) => {
  const binding = limitOf(1);
  const send = deploy({ ADDRESS_LIMIT: binding });
  expect((await send("/v1/tools", from(one))).status).toBe(401);
  expect((await send("/v1/tools", from(other))).status).toBe(429);
  expect((await send("/v1/tools", from("2001:db8:1:3::1"))).status).toBe(401);
});

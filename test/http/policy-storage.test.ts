import { beforeEach, describe, expect, test } from "vitest";
import { reset } from "cloudflare:test";
import { hashOf } from "../../src/protocol/json/canonical-hash.ts";
import { putPolicy as handlePut } from "../../src/http/tenant/policy.ts";
import type { Services } from "../../src/http/services.ts";
import type { JsonValue } from "../../src/protocol/json/value.ts";
import type { Principal } from "../../src/protocol/identity/principal.ts";
import { policyOf } from "../../src/testing/fakes/fakes.ts";
import { bindings, putPolicy, send, type Caller } from "../shared/worker.ts";

const FIRST = { "if-none-match": "*" };

const TIME = { allowedTools: ["core__get_current_time"] };

const CALCULATE = { allowedTools: ["core__calculate"] };

const get = (caller: Caller = "acme"): Promise<Response> => send("/v1/policy", { caller });

const answerOf = async (response: Response): Promise<readonly unknown[]> => [
  response.status,
  response.headers.get("etag"),
  await response.json(),
];

const codeOf = async (response: Response): Promise<string> =>
  (await response.json<{ code: string }>()).code;
const hashOfPolicy = (document: object): Promise<string> => hashOf(policyOf(document) as JsonValue);

beforeEach(() => reset());

describe("a foreign value in KV", () => {
  test("in place of the document denies everything, and readers of the policy get the reason", async () => {
    await putPolicy(TIME, { caller: "strict", ...FIRST });
    const key = `policy/strict/${await hashOfPolicy(TIME)}`;
    await bindings.POLICY.put(key, JSON.stringify(policyOf(CALCULATE)));
    const { tools } = await (
      await send("/v1/tools", { caller: "strict" })
    ).json<{ tools: readonly object[] }>();
    expect(tools).toEqual([]);
    expect(await answerOf(await get("strict"))).toMatchObject([
      503,
      '"1"',
      { code: "policy_unavailable", revision: 1 },
    ]);
    const mended = await putPolicy(TIME, { caller: "strict", "if-match": '"1"' });
    expect(mended.status).toBe(200);
    expect((await get("strict")).status).toBe(200);
  });

  test("as the pointer does not change what is read", async () => {
    await putPolicy(TIME, FIRST);
    const old = (await bindings.POLICY.get("policy/acme/current")) ?? "";
    await putPolicy(CALCULATE, { "if-match": '"1"' });
    await bindings.POLICY.put("policy/acme/current", old);
    expect(await answerOf(await get())).toMatchObject([200, '"2"', { revision: 2 }]);
  });
});

test("a policy that cannot be stored is answered as such, and may be tried again", async () => {
  const services = {
    registry: { change: () => Promise.resolve({ kind: "unavailable" }) },
  } as unknown as Services;
  const principal = {
    tenantId: "acme",
    actorId: "user:acme",
    roles: [],
    scopes: [],
  } as unknown as Principal;
  const request = new Request("https://interlock.test/v1/policy", {
    method: "PUT",
    headers: { "content-type": "application/json", ...FIRST },
    body: '{"allowedTools":[]}',
  });
  const response = await handlePut({
    request,
    principal,
    services,
    contracts: () => Promise.resolve([]),
    id: "",
    invocationId: "",
    name: "",
  });
  expect([response.status, response.headers.get("retry-after"), await codeOf(response)]).toEqual([
    503,
    "1",
    "policy_unavailable",
  ]);
});

import { expect, test } from "vitest";
import { createKvPolicyStore, type PolicyCache } from "../../src/adapters/kv-policy-store.ts";
import type { TenantId } from "../../src/protocol/ids.ts";
import { DENY_ALL } from "../../src/protocol/tool-policy.ts";
import { FakeClock } from "../suites/fakes.ts";

const acme = "acme" as TenantId;

/** A store over documents that can be changed, and over a KV that can fail. */
function setUp(documents: Record<string, string | Error>) {
  const clock = new FakeClock();
  const cache: PolicyCache = new Map();
  const asked: string[] = [];
  const kv = {
    get(key: string): Promise<string | null> {
      asked.push(key);
      const document = documents[key];
      return document instanceof Error
        ? Promise.reject(document)
        : Promise.resolve(document ?? null);
    },
  } as unknown as KVNamespace;
  return { clock, cache, asked, store: createKvPolicyStore({ kv, clock, cache }) };
}

const DENIED = DENY_ALL;

test.each([
  ["KV fails", new Error("down"), "unreadable"],
  ["there is no document", undefined, "missing"],
  ["the document is not JSON", "{", "invalid"],
  ["the document is no policy", '{"allowedTools":["a__b"],"typo":1}', "invalid"],
  ["the document is null", "null", "invalid"],
])("denies everything when %s", async (_name, document, deniedBecause) => {
  const { store, cache } = setUp(document === undefined ? {} : { "policy/acme": document });
  expect(await store.load(acme)).toEqual({ policy: DENIED, deniedBecause });
  expect(cache.size).toBe(0);
});

test("keeps a policy for thirty seconds and no longer", async () => {
  const documents: Record<string, string> = { "policy/acme": '{"allowedTools":["a__b"]}' };
  const { store, clock, asked } = setUp(documents);
  const allowed = async (): Promise<readonly object[]> =>
    (await store.load(acme)).policy.allowedTools;
  expect(await allowed()).toEqual([{ id: "a__b", scopes: [] }]);
  documents["policy/acme"] = '{"allowedTools":[]}';
  clock.advance(29_999);
  expect(await allowed()).toEqual([{ id: "a__b", scopes: [] }]);
  clock.advance(1);
  expect(await allowed()).toEqual([]);
  expect(asked.length).toBe(2);
});

test("a policy that is mended counts at the next look", async () => {
  const documents: Record<string, string> = { "policy/acme": "{" };
  const { store } = setUp(documents);
  expect((await store.load(acme)).deniedBecause).toBe("invalid");
  documents["policy/acme"] = '{"allowedTools":["a__b"]}';
  expect((await store.load(acme)).policy.allowedTools).toEqual([{ id: "a__b", scopes: [] }]);
});

test("an isolate keeps a bounded number of policies", async () => {
  const tenants = Array.from({ length: 1_100 }, (_, index) => `t${index}` as TenantId);
  const documents = Object.fromEntries(
    tenants.map((id) => [`policy/${id}`, '{"allowedTools":[]}']),
  );
  const { store, cache } = setUp(documents);
  for (const tenant of tenants) await store.load(tenant);
  expect(cache.size).toBe(1_000);
  expect(cache.has(tenants.at(-1) ?? acme)).toBe(true);
});

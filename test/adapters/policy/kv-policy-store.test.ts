import { expect, test } from "vitest";
import { createKvPolicyStore } from "../../../src/adapters/policy/kv-policy-store.ts";
import { PolicyCache } from "../../../src/adapters/policy/policy-cache.ts";
import { hashText, toCanonicalJson } from "../../../src/protocol/json/canonical-hash.ts";
import type { TenantId } from "../../../src/protocol/identity/ids.ts";
import type { JsonValue } from "../../../src/protocol/json/value.ts";
import type { PolicyPin } from "../../../src/protocol/policy/pin.ts";
import { denyAll } from "../../../src/protocol/policy/document.ts";
import { FakeClock } from "../../../src/testing/time/fake-clock.ts";
import { policyOf } from "../../../src/testing/fakes/fakes.ts";

const acme = "acme" as TenantId;
const POINTER = "policy/acme/current";
type Entries = Record<string, string | Error>;

/** A store over entries that can be changed, and over a KV that can fail. */
function setUp(entries: Entries) {
  const clock = new FakeClock();
  const asked: string[] = [];
  const kv = {
    get(key: string): Promise<string | null> {
      asked.push(key);
      const entry = entries[key];
      return entry instanceof Error ? Promise.reject(entry) : Promise.resolve(entry ?? null);
    },
  } as unknown as KVNamespace;
  return { clock, asked, store: createKvPolicyStore({ kv, clock, cache: new PolicyCache() }) };
}

const textOf = (...ids: readonly string[]): string =>
  toCanonicalJson(policyOf({ allowedTools: ids }) as JsonValue);

/** Stores a document under its hash and points to it. */
async function publish(entries: Entries, revision: number, text: string): Promise<PolicyPin> {
  const pin = { revision, hash: await hashText(text) };
  entries[`policy/acme/${pin.hash}`] = text;
  entries[POINTER] = JSON.stringify(pin);
  return pin;
}

const idsOf = ({ policy }: { policy: ReturnType<typeof denyAll> }): readonly string[] =>
  policy.allowedTools.map(({ id }) => id);

test("reads the document that the pointer names, and returns its hash", async () => {
  const entries: Entries = {};
  const pin = await publish(entries, 7, textOf("a__b"));
  const loaded = await setUp(entries).store.load(acme);
  expect(loaded).toEqual({ policy: policyOf({ allowedTools: ["a__b"] }), pin });
});

test.each([
  ["KV fails", new Error("down"), "unreadable"],
  ["there is no pointer", undefined, "missing"],
  ["the pointer is not JSON", "{", "invalid"],
  ["the pointer names no revision", '{"hash":"sha256:0"}', "invalid"],
  ["the pointer says more", '{"revision":1,"hash":"sha256:0","also":1}', "invalid"],
  [
    "the pointer names a document that is not there",
    `{"revision":1,"hash":"sha256:${"0".repeat(64)}"}`,
    "missing",
  ],
])("denies everything when %s", async (_name, pointer, deniedBecause) => {
  const { store } = setUp(pointer === undefined ? {} : { [POINTER]: pointer });
  expect(await store.load(acme)).toEqual({ policy: denyAll(), deniedBecause });
});

test.each([
  ["is not JSON", "{"],
  ["is no policy", '{"allowedTools":["a__b"],"typo":1}'],
  ["is null", "null"],
])("denies everything when the document %s", async (_name, text) => {
  const entries: Entries = {};
  const pin = await publish(entries, 1, text);
  const { store } = setUp(entries);
  const denied = { policy: denyAll(), deniedBecause: "invalid" };
  expect([await store.load(acme), await store.read(acme, pin)]).toEqual([denied, denied]);
});

test("a document that was altered under its hash denies everything", async () => {
  const entries: Entries = {};
  const pin = await publish(entries, 1, textOf());
  entries[`policy/acme/${pin.hash}`] = textOf("a__b");
  const { store } = setUp(entries);
  const denied = { policy: denyAll(), deniedBecause: "invalid" };
  expect([await store.load(acme), await store.read(acme, pin)]).toEqual([denied, denied]);
});

test("a document that cannot be read denies everything", async () => {
  const entries: Entries = {};
  const { hash } = await publish(entries, 1, textOf());
  entries[`policy/acme/${hash}`] = new Error("down");
  const denied = { policy: denyAll(), deniedBecause: "unreadable" };
  expect(await setUp(entries).store.load(acme)).toEqual(denied);
});

test("reads the document of a pin, whichever is current", async () => {
  const entries: Entries = {};
  const first = await publish(entries, 1, textOf("a__b"));
  await publish(entries, 2, textOf());
  const { store, asked } = setUp(entries);
  const loaded = await store.read(acme, first);
  expect([idsOf(loaded), loaded.pin]).toEqual([["a__b"], first]);
  expect(asked).not.toContain(POINTER);
});

test("keeps a pointer for thirty seconds and no longer, and a document for good", async () => {
  const entries: Entries = {};
  await publish(entries, 1, textOf("a__b"));
  const { store, clock, asked } = setUp(entries);
  expect(idsOf(await store.load(acme))).toEqual(["a__b"]);
  await publish(entries, 2, textOf());
  clock.advance(29_999);
  expect(idsOf(await store.load(acme))).toEqual(["a__b"]);
  clock.advance(1);
  expect(idsOf(await store.load(acme))).toEqual([]);
  await publish(entries, 3, textOf("a__b"));
  clock.advance(30_000);
  expect(idsOf(await store.load(acme))).toEqual(["a__b"]);
  expect(asked.filter((key) => key === POINTER).length).toBe(3);
  expect(asked.length).toBe(5);
});

test("an isolate that saw a revision never goes back to an older one", async () => {
  const entries: Entries = {};
  await publish(entries, 1, textOf("a__b"));
  const old = entries[POINTER] ?? "";
  const current = await publish(entries, 2, textOf());
  const { store, clock } = setUp(entries);
  await store.load(acme);
  entries[POINTER] = old;
  clock.advance(30_000);
  expect((await store.load(acme)).pin).toEqual(current);
});

test("a policy that is mended counts at the next look", async () => {
  const entries: Entries = { [POINTER]: "{" };
  const { store } = setUp(entries);
  expect((await store.load(acme)).deniedBecause).toBe("invalid");
  await publish(entries, 1, textOf("a__b"));
  expect(idsOf(await store.load(acme))).toEqual(["a__b"]);
});

test("a tenant's pointer reaches no document of another tenant", async () => {
  const entries: Entries = {};
  await publish(entries, 1, textOf("a__b"));
  entries["policy/rival/current"] = entries[POINTER] ?? "";
  const { store } = setUp(entries);
  await store.load(acme);
  expect((await store.load("rival" as TenantId)).deniedBecause).toBe("missing");
});

test("an isolate keeps a bounded number of pointers and a bounded length of documents", () => {
  const cache = new PolicyCache();
  const pin = { revision: 1, hash: "sha256:0" };
  for (let index = 0; index < 1_100; index++) {
    cache.keepPointer(`t${index}` as TenantId, { pin, untilMs: 1 });
    cache.keepDocument(`t${index}`, denyAll(), 64 * 1024);
  }
  const kept = (has: (name: string) => unknown): number =>
    Array.from({ length: 1_100 }, (_, index) => has(`t${index}`)).filter(Boolean).length;
  expect(kept((name) => cache.pointerOf(name as TenantId))).toBe(1_000);
  expect(kept((name) => cache.documentOf(name))).toBe(64);
  expect(cache.documentOf("t1099")).toBe(denyAll());
  cache.keepDocument("huge", denyAll(), 5 * 1024 * 1024);
  expect(kept((name) => cache.documentOf(name))).toBe(0);
});

test("an isolate that is told of a newer policy does not wait for KV, and never goes back", async () => {
  const entries: Entries = {};
  const old = await publish(entries, 1, textOf("a__b"));
  const { store } = setUp(entries);
  expect(idsOf(await store.load(acme))).toEqual(["a__b"]);
  const pin = await publish(entries, 2, textOf());
  expect(idsOf(await store.load(acme))).toEqual(["a__b"]);
  store.learn(acme, pin);
  expect(idsOf(await store.load(acme))).toEqual([]);
  store.learn(acme, old);
  expect(idsOf(await store.load(acme))).toEqual([]);
});

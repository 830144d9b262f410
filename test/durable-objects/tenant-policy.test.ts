import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import { TenantObject } from "../../durable-objects/tenant/tenant-object.ts";
import type { PolicyChange } from "../../src/capabilities/policy.ts";
import type { RawEnv } from "../../src/env.ts";
import { hashText } from "../../src/protocol/json/canonical-hash.ts";
import type { ActorId, TenantId } from "../../src/protocol/identity/ids.ts";
import { bindings } from "../shared/worker.ts";

type Stub = DurableObjectStub<TenantObject>;
const stubOf = (tenantId: string): Stub =>
  bindings.TENANTS.get(bindings.TENANTS.idFromName(tenantId)) as unknown as Stub;
const textOf = (name: string): string => JSON.stringify({ allowedTools: [name] });

/** Changes the policy through a stub or an instance of the object. */
const change = async (
  object: { change: TenantObject["change"] } | Stub,
  { tenant, name, from }: { tenant: string; name: string; from?: number },
): Promise<PolicyChange> =>
  object.change({
    tenantId: tenant as TenantId,
    policyText: textOf(name),
    expectedRevision: from,
    by: { actorId: "user:ann" as ActorId },
  });

const pointerOf = (tenant: string): Promise<string | null> =>
  bindings.POLICY.get(`policy/${tenant}/current`);
const documentOf = async (tenant: string, name: string): Promise<string | null> =>
  bindings.POLICY.get(`policy/${tenant}/${await hashText(textOf(name))}`);

/** Pointer after the alarm. On a slow machine the alarm may have rung by itself before. */
async function pointerAfterAlarm(tenant: string): Promise<string | null> {
  await runDurableObjectAlarm(stubOf(tenant));
  return pointerOf(tenant);
}

type Put = (key: string, value: string) => Promise<void>;
const realPut: Put = (key, value) => bindings.POLICY.put(key, value);
const isPointer = (key: string): boolean => key.endsWith("/current");

/** Runs a function on an instance of the object with a fake KV. */
const withPut = <T>(
  tenant: string,
  put: Put,
  use: (object: TenantObject, state: DurableObjectState) => Promise<T>,
): Promise<T> =>
  runInDurableObject(stubOf(tenant), (_object, state) => {
    const kv = { get: bindings.POLICY.get.bind(bindings.POLICY), put };
    const raw: RawEnv = { ...(env as unknown as RawEnv), POLICY: kv };
    return use(new TenantObject(state, raw), state);
  });

test("a read of a tenant without a policy finds none and writes nothing", async () => {
  const stub = stubOf("nobody");
  expect(await stub.policy()).toBeUndefined();
  expect(await change(stub, { tenant: "nobody", name: "a", from: 3 })).toEqual({
    kind: "conflict",
    pin: undefined,
  });
  const tables = await runInDurableObject(stub, (_object, { storage }) =>
    storage.sql
      .exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_%' ESCAPE '\\'")
      .toArray(),
  );
  expect([tables, await documentOf("nobody", "a")]).toEqual([[], null]);
});

test("a change stores the document, then the revision, then the pointer", async () => {
  const seen: unknown[] = [];
  const put: Put = async (key, value) => {
    seen.push([isPointer(key) ? "pointer" : "document", await stubOf("order").policy()]);
    await realPut(key, value);
  };
  const pin = { revision: 1, hash: await hashText(textOf("a")) };
  const changed = await withPut("order", put, (object) =>
    change(object, { tenant: "order", name: "a" }),
  );
  expect(changed).toEqual({ kind: "changed", pin });
  expect(seen).toEqual([
    ["document", undefined],
    ["pointer", pin],
  ]);
  expect(await documentOf("order", "a")).toBe(textOf("a"));
  expect(await pointerOf("order")).toBe(JSON.stringify(pin));
  expect(await runDurableObjectAlarm(stubOf("order"))).toBe(false);
});

test("of simultaneous changes from one revision exactly one is made", async () => {
  const stub = stubOf("race");
  await change(stub, { tenant: "race", name: "a" });
  const answers = await Promise.all(
    ["b", "c", "d", "e"].map((name) => change(stub, { tenant: "race", name, from: 1 })),
  );
  expect(answers.filter(({ kind }) => kind === "changed").length).toBe(1);
  const current = await stub.policy();
  expect(current?.revision).toBe(2);
  const conflict = { kind: "conflict", pin: current };
  const others = answers.filter(({ kind }) => kind !== "changed");
  expect(others).toEqual([conflict, conflict, conflict]);
  expect(await pointerOf("race")).toBe(JSON.stringify(current));
});

test("a change is refused when another change happens while KV stores its document", async () => {
  const answer = await withPut(
    "overtaken",
    async (key, value) => {
      if (!isPointer(key)) await change(stubOf("overtaken"), { tenant: "overtaken", name: "b" });
      await realPut(key, value);
    },
    (object) => change(object, { tenant: "overtaken", name: "a" }),
  );
  const pin = { revision: 1, hash: await hashText(textOf("b")) };
  expect(answer).toEqual({ kind: "conflict", pin });
});

test("a change whose document KV refuses changes nothing", async () => {
  const answer = await withPut(
    "full",
    () => Promise.reject(new Error("429")),
    (object) => change(object, { tenant: "full", name: "a" }),
  );
  expect([answer, await stubOf("full").policy(), await pointerOf("full")]).toEqual([
    { kind: "unavailable" },
    undefined,
    null,
  ]);
});

test("a pointer that KV refused is published by the alarm", async () => {
  let refused = 0;
  const answer = await withPut(
    "late",
    (key, value) => {
      if (!isPointer(key)) return realPut(key, value);
      refused++;
      return Promise.reject(new Error("429"));
    },
    (object) => change(object, { tenant: "late", name: "a" }),
  );
  expect([answer.kind, refused]).toEqual(["changed", 1]);
  const pin = { revision: 1, hash: await hashText(textOf("a")) };
  expect(await pointerAfterAlarm("late")).toBe(JSON.stringify(pin));
  expect(await runDurableObjectAlarm(stubOf("late"))).toBe(false);
});

test("a pointer that KV keeps refusing is retried with backoff, up to a minute", async () => {
  const refuse: Put = (key, value) =>
    isPointer(key) ? Promise.reject(new Error("429")) : realPut(key, value);
  const delays = await withPut("stubborn", refuse, async (object, { storage }) => {
    const seen: number[] = [];
    await change(object, { tenant: "stubborn", name: "a" });
    for (let attempt = 0; attempt < 8; attempt++) {
      const before = Date.now();
      await object.alarm();
      seen.push(((await storage.getAlarm()) ?? 0) - before);
    }
    return seen;
  });
  const least = [4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000];
  expect(delays.map((delay, index) => delay >= (least[index] ?? 0))).toEqual(least.map(() => true));
  expect(Math.max(...delays)).toBeLessThan(70_000);
});

test("an object that crashes while it writes its pointer publishes it in its next incarnation", async () => {
  let die = (): void => {};
  const died = withPut(
    "dead",
    async (key, value) => {
      if (!isPointer(key)) return realPut(key, value);
      die();
      return new Promise(() => {});
    },
    async (object, state) => {
      die = () => state.abort("died");
      await change(object, { tenant: "dead", name: "a" });
    },
  );
  await died.catch(() => {});
  const pin = { revision: 1, hash: await hashText(textOf("a")) };
  expect(await stubOf("dead").policy()).toEqual(pin);
  expect(await pointerAfterAlarm("dead")).toBe(JSON.stringify(pin));
});

test("the alarm is set before the pointer is written", async () => {
  const alarms: (number | null)[] = [];
  let look = async (): Promise<number | null> => null;
  await withPut(
    "armed",
    async (key, value) => {
      if (isPointer(key)) alarms.push(await look());
      await realPut(key, value);
    },
    async (object, { storage }) => {
      look = () => storage.getAlarm();
      await change(object, { tenant: "armed", name: "a" });
      alarms.push(await storage.getAlarm());
    },
  );
  expect(alarms).toEqual([expect.any(Number), null]);
});

test("an object whose alarm the platform dropped sets it again when it wakes", async () => {
  const refuse: Put = (key, value) =>
    isPointer(key) ? Promise.reject(new Error("429")) : realPut(key, value);
  await withPut("given-up", refuse, async (object, { storage }) => {
    await change(object, { tenant: "given-up", name: "a" });
    await storage.deleteAlarm();
  });
  await evictDurableObject(stubOf("given-up"));
  await stubOf("given-up").policy();
  expect(await pointerAfterAlarm("given-up")).not.toBeNull();
});

test("a newer pointer waits for a slow older one, so the pointer never goes back", async () => {
  const puts: string[] = [];
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  await withPut(
    "slow",
    async (key, value) => {
      if (isPointer(key)) puts.push(value);
      if (isPointer(key) && puts.length === 1) await gate;
      await realPut(key, value);
    },
    async (object) => {
      const first = change(object, { tenant: "slow", name: "a" });
      await vi.waitFor(() => expect(puts.length).toBe(1));
      const second = change(object, { tenant: "slow", name: "b", from: 1 });
      await vi.waitFor(async () => expect((await object.policy())?.revision).toBe(2));
      await new Promise((later) => setTimeout(later, 20));
      expect(puts.length).toBe(1);
      open();
      await Promise.all([first, second]);
    },
  );
  expect(JSON.parse((await pointerOf("slow")) ?? "")).toMatchObject({ revision: 2 });
  expect(await runDurableObjectAlarm(stubOf("slow"))).toBe(false);
});

test("an evicted object keeps its revision", async () => {
  await change(stubOf("evicted"), { tenant: "evicted", name: "a" });
  const before = await stubOf("evicted").policy();
  await evictDurableObject(stubOf("evicted"));
  expect([before?.revision, await stubOf("evicted").policy()]).toEqual([1, before]);
});

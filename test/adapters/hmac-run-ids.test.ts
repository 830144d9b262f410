import { expect, test } from "vitest";
import { createHmacRunIds } from "../../src/adapters/hmac-run-ids.ts";
import type { ActorId, TenantId } from "../../src/protocol/identity/ids.ts";

const ids = createHmacRunIds("a secret of thirty-two characters", (length) =>
  crypto.getRandomValues(new Uint8Array(length)),
);
const acme = "acme" as TenantId;
const ann = { tenantId: acme, actorId: "user:ann" as ActorId };
const nonceOf = (id: string): string | undefined => id.split("_")[1];

test("a key of an actor of a tenant always names the same run, and the tenant knows it for its own", async () => {
  const id = await ids.derive(ann, "key");
  expect(await ids.derive(ann, "key")).toBe(id);
  expect(await ids.verify(id, acme)).toBe(id);
  expect(await ids.verify(id, "rival" as TenantId)).toBeUndefined();
});

test.each([
  ["tenant", { ...ann, tenantId: "rival" as TenantId }, "key"],
  ["actor", { ...ann, actorId: "user:bob" as ActorId }, "key"],
  ["person that it acts for", { ...ann, subjectId: "user:bob" as ActorId }, "key"],
  ["page", { ...ann, origin: "https://a.example" }, "key"],
  ["key", ann, "other"],
])("another %s names another run, by the nonce alone", async (_name, owner, key) => {
  const other = await ids.derive(owner, key);
  expect(nonceOf(other)).not.toBe(nonceOf(await ids.derive(ann, "key")));
});

test("parts cannot be moved from one to the next", async () => {
  const one = await ids.derive(ann, 'a","b');
  const other = await ids.derive({ ...ann, origin: 'a","b' }, "");
  expect(nonceOf(one)).not.toBe(nonceOf(other));
});

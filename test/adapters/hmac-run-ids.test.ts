import { describe, expect, test } from "vitest";
import { createHmacRunIds } from "../../src/adapters/hmac-run-ids.ts";
import type { ActorId, TenantId } from "../../src/protocol/identity/ids.ts";

const ids = createHmacRunIds("a secret of thirty-two characters", (length) =>
  crypto.getRandomValues(new Uint8Array(length)),
);
const acme = "acme" as TenantId;
const ann = { tenantId: acme, actorId: "user:ann" as ActorId };
const nonceOf = (id: string): string | undefined => id.split("_")[1];

test("the same key of the same actor derives the same run id, which only its tenant verifies", async () => {
  const id = await ids.derive(ann, "key");
  expect(await ids.derive(ann, "key")).toBe(id);
  expect(await ids.verify(id, acme)).toBe(id);
  expect(await ids.verify(id, "rival" as TenantId)).toBeUndefined();
});

describe("an id of an older release stays valid", () => {
  const old = createHmacRunIds("the secret of an older release, 32+", () => new Uint8Array());

  test.each([
    ["an actor", {}, "run_4199268fb19be6faf6f9a67dce354769_d7b3a8076008de21a737a9d8771f67be"],
    [
      "an actor with a subject",
      { actorId: "agent:bot" as ActorId, subjectId: "user:ann" as ActorId },
      "run_ab0b0f9c38536bf3d234386a66a4c55c_e379e44824a8e84ebc8257a2d837b71e",
    ],
    [
      "a page",
      { origin: "https://shop.example" },
      "run_3135b8d793cd33da9dea838838f627a6_1412ec9f2b44fd899070975e2957f6a3",
    ],
  ])("the key of %s derives the run id that it derived then", async (_name, owner, id) => {
    expect(await old.derive({ ...ann, ...owner }, "order-7")).toBe(id);
    expect(await old.verify(id, acme)).toBe(id);
  });

  test("a minted run id verifies, and for its tenant alone", async () => {
    const id = "run_000102030405060708090a0b0c0d0e0f_322281e779bf5ba19db78eeeadcefa90";
    expect(await old.verify(id, acme)).toBe(id);
    expect(await old.verify(id, "rival" as TenantId)).toBeUndefined();
  });
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

test("text cannot move from one part of the derivation to the next", async () => {
  const one = await ids.derive(ann, 'a","b');
  const other = await ids.derive({ ...ann, origin: 'a","b' }, "");
  expect(nonceOf(one)).not.toBe(nonceOf(other));
});

import { describe, expect, test, vi } from "vitest";
import { createHmacRunIds } from "../../../src/adapters/run/hmac-run-ids.ts";
import type { ActorId, TenantId } from "../../../src/protocol/identity/ids.ts";
import type { Viewer } from "../../../src/protocol/identity/viewer.ts";

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
    ["an actor", {}, "run_4199268fb19be6faf6f9a67dce354769_ef8c4f01ef8c4f01701b2c52eb899d28"],
    [
      "an actor with a subject",
      { actorId: "agent:bot" as ActorId, subjectId: "user:ann" as ActorId },
      "run_ab0b0f9c38536bf3d234386a66a4c55c_5afd6d482291998bffb70018acc87595",
    ],
    [
      "a page",
      { origin: "https://shop.example" },
      "run_3135b8d793cd33da9dea838838f627a6_3929015739290157981d0be87054e961",
    ],
  ])("the key of %s derives the run id that it derived then", async (_name, owner, id) => {
    expect(await old.derive({ ...ann, ...owner }, "order-7")).toBe(id);
    expect(await old.verify(id, acme)).toBe(id);
  });

  test("a minted run id verifies, and for its tenant alone", async () => {
    const nonce = Uint8Array.from({ length: 16 }, (_, index) => index);
    const minting = createHmacRunIds("the secret of an older release, 32+", () => nonce);
    const id = "run_000102030405060708090a0b0c0d0e0f_c4c74910c4c74910ea9e8ba7f06f2664";
    expect(await minting.mint(ann)).toBe(id);
    expect(await old.verify(id, acme)).toBe(id);
    expect(await old.verify(id, "rival" as TenantId)).toBeUndefined();
  });
});

describe("a run id tells its viewer apart", () => {
  const ben = { tenantId: acme, actorId: "agent:ben" as ActorId };
  const viewer = (actor: string, rights: object = {}): Viewer => ({
    tenantId: acme,
    actor: actor as ActorId,
    person: actor as ActorId,
    seesAll: false,
    operates: false,
    ...rights,
  });

  test.each<[string, Viewer, boolean]>([
    ["the person for whom it runs", viewer("user:ann"), true],
    ["the actor who started it", viewer("agent:ben"), true],
    ["a colleague", viewer("user:bob"), false],
    ["a colleague who reads all runs", viewer("user:bob", { seesAll: true }), true],
    ["an operator", viewer("user:bob", { operates: true }), true],
    ["another tenant", viewer("user:ann", { tenantId: "rival", seesAll: true }), false],
  ])("%s", async (_who, who, isFound) => {
    const id = await ids.mint({ ...ben, subjectId: ann.actorId });
    expect(await ids.verifyFor(id, who)).toBe(isFound ? id : undefined);
    // The owners are part of what the MAC covers.
    const forged = id.replace(
      /_(.{16})(.{16})$/,
      (_all, _owners, mac) => `_${"0".repeat(16)}${mac}`,
    );
    expect(await ids.verifyFor(forged, { ...who, seesAll: true })).toBeUndefined();
  });

  test("with as much work for a colleague's id as for an invented one", async () => {
    const sign = vi.spyOn(crypto.subtle, "sign");
    const work = async (id: string): Promise<number> => {
      sign.mockClear();
      expect(await ids.verifyFor(id, viewer("user:bob"))).toBeUndefined();
      return sign.mock.calls.length;
    };
    const foreign = await ids.mint(ann);
    expect(await work(foreign)).toBe(await work(foreign.replace(/.{8}$/, "00000000")));
    sign.mockRestore();
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

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { diffShown } from "../../../src/protocol/approval/shown.ts";
import { toCanonicalJson } from "../../../src/protocol/json/canonical-hash.ts";
import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { PACKET } from "../../shared/packets.ts";

const json = fc.jsonValue({ maxDepth: 3, noUnicodeString: true });
const state = fc.dictionary(fc.string({ maxLength: 3 }), json) as fc.Arbitrary<JsonObject>;
const withState = (beforeState: JsonObject | null) => ({ ...PACKET, beforeState });

describe("what people saw and what they would see now", () => {
  test("differ exactly when a value differs, also between absent, null and empty", () => {
    fc.assert(
      fc.property(fc.option(state), fc.option(state), (one, other) => {
        const isSame = toCanonicalJson(one) === toCanonicalJson(other);
        expect(diffShown(withState(one), withState(other)).length === 0).toBe(isSame);
        expect(diffShown(withState(one), withState(structuredClone(one)))).toEqual([]);
      }),
    );
  });

  const drifting = [{ field: "items.*.left", reason: "it decides nothing" }];
  const seen = { ...withState({ items: [{ price: 1, left: 5 }], left: 5 }), drifting };
  const now = (beforeState: JsonObject) => ({ ...seen, beforeState });

  test.each<[string, object, readonly string[]]>([
    ["nothing", seen, []],
    ["the time to decide", { ...seen, expiresAt: "2027-01-01T00:00:00.000Z" }, []],
    ["the fingerprint of the key", { ...seen, idempotencyFingerprint: "sha256:0" }, []],
    ["a drifting field", now({ items: [{ price: 1, left: 4 }], left: 5 }), []],
    [
      "a field of its name elsewhere",
      now({ items: [{ price: 1, left: 5 }], left: 4 }),
      ["/beforeState/left"],
    ],
    [
      "a field beside it",
      now({ items: [{ price: 2, left: 4 }], left: 5 }),
      ["/beforeState/items/0/price"],
    ],
    [
      "the list that holds it",
      now({ items: [], left: 5 }),
      ["/beforeState/items/0/price", "/beforeState/items"],
    ],
    [
      "more fields that may drift",
      { ...seen, drifting: [...drifting, { field: "left", reason: "none" }] },
      ["/drifting/1/field", "/drifting/1/reason"],
    ],
    [
      "the way back",
      { ...seen, compensation: { ...seen.compensation, note: "None." } },
      ["/compensation/note"],
    ],
    ["the workspace", { ...seen, workspaceId: "attic" }, ["/workspaceId"]],
    [
      "the arguments that are shown",
      { ...seen, arguments: { shown: {}, withheld: ["/amount", "/iban", "/to"] } },
      expect.arrayContaining(["/arguments/shown/amount"]) as never,
    ],
    [
      "more than people read",
      now(Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`k${at}`, at]))),
      ["/beforeState"],
    ],
  ])("%s", (_, after, pointers) => {
    expect(diffShown(seen, after as typeof seen).map(({ pointer }) => pointer)).toEqual(pointers);
  });
});

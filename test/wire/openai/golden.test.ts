/// <reference types="vite/types/importMeta.d.ts" />
import { describe, expect, test } from "vitest";
import {
  bytesOf,
  byteByByte,
  cutAt,
  decodePieces,
  type StreamFixture,
  summarise,
} from "../model/decode-stream.ts";

const fixtures = Object.values(
  import.meta.glob<StreamFixture & { readonly quirk: string }>("../../fixtures/openai/*.json", {
    eager: true,
    import: "default",
  }),
);

test("the golden streams are there", () => {
  expect(fixtures.length).toBeGreaterThan(70);
});

describe("every golden stream decodes the same, wherever the network cuts it", () => {
  for (const { name, quirk, sse, expect: expected } of fixtures) {
    test(`${name}: ${quirk}`, () => {
      const body = bytesOf(sse);
      expect(summarise(decodePieces([body])), "in one read").toStrictEqual(expected);
      expect(summarise(decodePieces(byteByByte(body))), "byte by byte").toStrictEqual(expected);
      const expectedText = JSON.stringify(expected);
      for (let cut = 1; cut < body.length; cut++) {
        const got = JSON.stringify(summarise(decodePieces(cutAt(body, [cut]))));
        if (got !== expectedText) expect.fail(`cut at byte ${cut}: ${got}`);
      }
    });
  }
});

describe("a stream that breaks off yields nothing that the whole does not", () => {
  for (const { name, sse, expect: expected } of fixtures) {
    test(name, () => {
      const body = bytesOf(sse);
      for (let end = 0; end < body.length; end++) {
        const got = summarise(decodePieces([body.subarray(0, end)]));
        if (got.finish === "error") {
          expect(got.toolCalls).toEqual([]);
          continue;
        }
        // A whole finish was seen: then only what follows it may be missing.
        if (expected.finish === "error") expect(LATE_FAILURES).toContain(name);
        else expect(got.toolCalls).toEqual(expected.toolCalls);
      }
    });
  }
});

/** Their failure comes after a finish that was whole. */
const LATE_FAILURES = ["error-after-finish", "end-inside-event"];

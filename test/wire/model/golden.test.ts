/// <reference types="vite/types/importMeta.d.ts" />
import { describe, expect, test } from "vitest";
import { anthropicWire } from "../../../src/wire/anthropic/wire.ts";
import type { ModelWire } from "../../../src/wire/model/model-wire.ts";
import { openAIWire } from "../../../src/wire/openai/wire.ts";
import { responsesWire } from "../../../src/wire/responses/wire.ts";
import { sampleOfGroups } from "../../shared/sample.ts";
import {
  bytesOf,
  byteByByte,
  cutAt,
  decodePieces,
  type StreamFixture,
  summarise,
} from "./decode-stream.ts";

const fixtures = import.meta.glob<StreamFixture & { readonly quirk: string }>(
  "../../fixtures/{openai,responses,anthropic}/*.json",
  { eager: true, import: "default" },
);

interface Golden {
  readonly wire: ModelWire;
  readonly least: number;
  /** Their failure comes after a finish that was whole. */
  readonly lateFailures: readonly string[];
}

/** Places in a stream where a sample cuts it: one of eight bytes, spread over all of it. */
function cutsOf(body: Uint8Array): readonly number[] {
  const every = Array.from({ length: body.length }, (_, at) => at);
  return sampleOfGroups(every, (at) => at >> 6, 8);
}

/** What the models of the streams were offered. */
const TOOLS = ["clock__now", "fan__set", "lamp__set"];

const WIRES: readonly Golden[] = [
  { wire: openAIWire, least: 70, lateFailures: ["error-after-finish", "end-inside-event"] },
  { wire: responsesWire, least: 30, lateFailures: [] },
  { wire: anthropicWire, least: 25, lateFailures: [] },
];

describe.each(WIRES)("the wire $wire.id", ({ wire, least, lateFailures }) => {
  const golden = Object.entries(fixtures).flatMap(([file, fixture]) =>
    file.includes(`/${wire.id}/`) ? [fixture] : [],
  );
  const decode = (pieces: Iterable<Uint8Array>) =>
    summarise(decodePieces(pieces, { wire, toolNames: TOOLS }));

  test("has its golden streams", () => {
    expect(golden.length).toBeGreaterThan(least);
  });

  describe("every golden stream decodes the same, wherever the network cuts it", () => {
    for (const { name, quirk, sse, expect: expected } of golden) {
      test(`${name}: ${quirk}`, () => {
        const body = bytesOf(sse);
        expect(decode([body]), "in one read").toStrictEqual(expected);
        expect(decode(byteByByte(body)), "byte by byte").toStrictEqual(expected);
        const expectedText = JSON.stringify(expected);
        for (const cut of cutsOf(body)) {
          const got = JSON.stringify(decode(cutAt(body, [cut])));
          if (got !== expectedText) expect.fail(`cut at byte ${cut}: ${got}`);
        }
      });
    }
  });

  describe("a stream that breaks off yields nothing that the whole does not", () => {
    for (const { name, sse, expect: expected } of golden) {
      test(name, () => {
        const body = bytesOf(sse);
        for (const end of cutsOf(body)) {
          const got = decode([body.subarray(0, end)]);
          if (got.finish === "error") {
            expect(got.toolCalls).toEqual([]);
            continue;
          }
          // A whole finish was seen: then only what follows it may be missing.
          if (expected.finish === "error") expect(lateFailures).toContain(name);
          else expect(got.toolCalls).toEqual(expected.toolCalls);
        }
      });
    }
  });
});

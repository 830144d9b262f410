import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  bytesOf,
  byteByByte,
  cutAt,
  decodePieces,
  type Expectation,
  type StreamFixture,
  summarise,
} from "./decode-stream.ts";

/** Recorded by third parties, so not part of this repository. */
const FOLDER = join(import.meta.dirname, "../../../../shared/fixtures/streams/openai");
const EVERY_CUT_BYTES = 6 * 1024;
const SINGLE_BYTES = 50 * 1024;
const RANDOM_RUNS = 25;

const present = existsSync(FOLDER);
const files = present ? readdirSync(FOLDER).filter((file) => file.endsWith(".json")) : [];

/** The recordings state the failure by its finish alone. */
function decode(pieces: Iterable<Uint8Array>): Expectation {
  const { error: _, ...summary } = summarise(decodePieces(pieces));
  return summary;
}

describe.skipIf(!present)("every recorded stream is decoded exactly as expected", () => {
  test("all 57 recordings are there", () => {
    expect(files).toHaveLength(57);
  });

  for (const file of files) {
    const {
      name,
      sse,
      expect: expected,
    } = JSON.parse(readFileSync(join(FOLDER, file), "utf8")) as StreamFixture;
    const body = bytesOf(sse);

    test(`${name} in one read`, () => {
      expect(decode([body])).toStrictEqual(expected);
    });

    if (body.length <= SINGLE_BYTES) {
      test(`${name} byte by byte`, () => {
        expect(decode(byteByByte(body))).toStrictEqual(expected);
      });
    }

    if (body.length <= EVERY_CUT_BYTES) {
      test(`${name} cut at every byte`, () => {
        const expectedText = JSON.stringify(decode([body]));
        for (let cut = 1; cut < body.length; cut++) {
          const got = JSON.stringify(decode(cutAt(body, [cut])));
          if (got !== expectedText) expect.fail(`cut at byte ${cut}: ${got}`);
        }
      });
    } else {
      // On failure fast-check prints the seed.
      test(`${name} cut at random bytes`, () => {
        const cuts = fc.uniqueArray(fc.nat(body.length), { maxLength: 40 });
        const sameAnywhere = fc.property(cuts, (offsets) => {
          expect(
            decode(
              cutAt(
                body,
                offsets.toSorted((a, b) => a - b),
              ),
            ),
          ).toStrictEqual(expected);
        });
        fc.assert(sameAnywhere, { numRuns: RANDOM_RUNS });
      });
    }
  }
});

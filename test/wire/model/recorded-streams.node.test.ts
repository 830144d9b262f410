import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anthropicWire } from "../../../src/wire/anthropic/wire.ts";
import type { ModelWire } from "../../../src/wire/model/model-wire.ts";
import { openAIWire } from "../../../src/wire/openai/wire.ts";
import { responsesWire } from "../../../src/wire/responses/wire.ts";
import { sampleOfGroups, sampleOfRuns } from "../../shared/sample.ts";
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
const FOLDER =
  process.env["RECORDED_STREAMS"] ??
  join(import.meta.dirname, "../../../../shared/fixtures/streams");
const EVERY_CUT_BYTES = 6 * 1024;
const SINGLE_BYTES = 50 * 1024;
const RANDOM_RUNS = 40;
/** One of how many cuts a sample tries. */
const ONE_CUT_OF = 16;
/** Finishes that the recordings know by a wider word. */
const COARSE: Readonly<Record<string, string>> = {
  refusal: "content_filter",
  context_window: "length",
};

describe.each<[ModelWire, number]>([
  [openAIWire, 57],
  [responsesWire, 47],
  [anthropicWire, 21],
])("every recorded stream of the wire $id", (wire, count) => {
  const folder = join(FOLDER, wire.id);
  const present = existsSync(folder);
  const files = present ? readdirSync(folder).filter((file) => file.endsWith(".json")) : [];

  /** The recordings state the failure by its finish alone, and not every usage. */
  function decode(pieces: Iterable<Uint8Array>, expected: Expectation): Partial<Expectation> {
    const { error: _, usage, finish, ...summary } = summarise(decodePieces(pieces, { wire }));
    return {
      ...summary,
      finish: (COARSE[finish] ?? finish) as Expectation["finish"],
      ...(expected.usage && { usage }),
    };
  }

  test.skipIf(!present)(`all ${count} are there`, () => {
    expect(files).toHaveLength(count);
  });

  for (const file of files) {
    const recorded = JSON.parse(readFileSync(join(folder, file), "utf8")) as StreamFixture & {
      readonly accept?: readonly Partial<Expectation>[];
    };
    const { name, sse, expect: expected, accept = [] } = recorded;
    const body = bytesOf(sse);

    test(`${name} in one read`, () => {
      const decoded = decode([body], expected);
      const fields = accept.map((other) => expect.objectContaining(other) as unknown);
      expect([expected, ...fields]).toContainEqual(decoded);
    });

    if (body.length <= SINGLE_BYTES) {
      test(`${name} byte by byte`, () => {
        expect(decode(byteByByte(body), expected)).toStrictEqual(decode([body], expected));
      });
    }

    if (body.length <= EVERY_CUT_BYTES) {
      test(`${name} cut at each byte of the sample`, () => {
        const whole = JSON.stringify(decode([body], expected));
        const every = Array.from({ length: body.length - 1 }, (_, before) => before + 1);
        for (const cut of sampleOfGroups(every, (at) => at >> 6, ONE_CUT_OF)) {
          const got = JSON.stringify(decode(cutAt(body, [cut]), expected));
          if (got !== whole) expect.fail(`cut at byte ${cut}: ${got}`);
        }
      });
    } else {
      // On failure fast-check prints the seed.
      test(`${name} cut at random bytes`, () => {
        const whole = decode([body], expected);
        const cuts = fc.uniqueArray(fc.nat(body.length), { maxLength: 40 });
        const sameAnywhere = fc.property(cuts, (offsets) => {
          const sorted = offsets.toSorted((a, b) => a - b);
          expect(decode(cutAt(body, sorted), expected)).toStrictEqual(whole);
        });
        fc.assert(sameAnywhere, sampleOfRuns(RANDOM_RUNS));
      });
    }
  }
});

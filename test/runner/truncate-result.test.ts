import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ok } from "../../src/protocol/outcome/result.ts";
import { TRUNCATION_MARKER, truncateResult } from "../../src/protocol/tool/truncate-result.ts";
import { benchFor } from "../../src/testing/fakes/runner-ports.ts";
import { ALLOW, execNote } from "./exec-note.ts";
import { allowing } from "./refused-call.ts";
import { sampleOfRuns } from "../shared/sample.ts";
import { noteTool } from "../shared/tools.ts";

const bytesOf = (value: unknown): number =>
  new TextEncoder().encode(JSON.stringify(value)).byteLength;

test("a truncated result fits the limit, is well-formed text and keeps every key", () => {
  const document = fc.dictionary(
    fc.string({ maxLength: 8 }),
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.array(fc.string({ unit: "binary", maxLength: 50 }), { maxLength: 8 }),
      fc.integer(),
    ),
  );
  fc.assert(
    fc.property(document, fc.integer({ min: 2, max: 400 }), (value, maxBytes) => {
      const cut = truncateResult(value, maxBytes);
      if (cut === undefined) return;
      expect(bytesOf(cut)).toBeLessThanOrEqual(maxBytes);
      expect(JSON.stringify(cut).isWellFormed()).toBe(true);
      expect(Object.keys(cut)).toEqual(Object.keys(value));
    }),
    sampleOfRuns(100),
  );
});

test("long strings are cut to the same length, and short strings stay whole", () => {
  const value = { a: "x".repeat(500), b: "y".repeat(500), c: "short" };
  const cut = truncateResult(value, 200) as Record<string, string>;
  expect(cut["c"]).toBe("short");
  expect(cut["a"]?.endsWith(TRUNCATION_MARKER)).toBe(true);
  expect(cut["a"]?.length).toBe(cut["b"]?.length);
});

test("lists lose their last items when cutting strings is not enough", () => {
  const cut = truncateResult({ items: Array.from({ length: 500 }, (_, index) => index) }, 100);
  const items = cut?.["items"] as readonly number[];
  expect(items.length).toBeGreaterThan(5);
  expect(items[0]).toBe(0);
});

test("a value that cannot be shortened gives no result", () => {
  expect(truncateResult({ a: 1, b: 2, c: 3 }, 5)).toBeUndefined();
});

test.each([
  ["the contract's", { execute: () => ok({ text: "é".repeat(300), token: "s3cret" }) }, 200],
  [
    "the policy's smaller",
    {
      policy: { ...ALLOW, budgets: { maxResultBytes: 60 } },
      execute: () => ok({ text: "é".repeat(300), token: "s3cret" }),
    },
    60,
  ],
])(
  "a result is cut to %s limit between characters, with a warning",
  async (_name, setup, bytes) => {
    const { result } = await execNote(setup);
    const { data, warnings } = result.observation.result_payload;
    const size = new TextEncoder().encode(JSON.stringify(data)).byteLength;
    expect(size).toBeLessThanOrEqual(bytes);
    expect(size).toBeGreaterThan(bytes - 4);
    expect(data).toEqual({ text: expect.stringMatching(/^é+…\[truncated\]$/) });
    expect(warnings).toEqual([expect.stringContaining(`cut to ${bytes} bytes`)]);
  },
);

test("a result that cannot be cut to its limit becomes a failure that says the tool ran", async () => {
  const { result } = await execNote({
    policy: { ...ALLOW, budgets: { maxResultBytes: 5 } },
    execute: () => ok({ text: "more than five bytes", token: "" }),
  });
  expect(result.observation.result_payload.errors).toMatchObject([
    { code: "result_too_large", message: expect.stringContaining("the tool ran") },
  ]);
});

test.each([
  [300, 200, 200],
  [200, 300, 200],
])(
  "with %i bytes by contract and %i by policy, the smaller limit applies",
  async (own, policys, bytes) => {
    const { tool } = noteTool({
      execute: () => ok({ text: "x".repeat(1_000) }),
      runtime: { maxResultBytes: own },
    });
    const { call } = benchFor([tool], {
      policy: allowing({ budgets: { maxResultBytes: policys } }),
    });
    const { value } = await call("test__note", { text: "hi" });
    expect(new TextEncoder().encode(JSON.stringify(value)).byteLength).toBeLessThanOrEqual(bytes);
  },
);

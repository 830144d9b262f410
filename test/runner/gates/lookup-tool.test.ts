import { expect, test } from "vitest";
import { benchFor, endOf } from "../../../src/testing/fakes/runner-ports.ts";
import { noteTool } from "../../shared/tools.ts";

test("a deprecated version works, and a warning names its replacement", async () => {
  const lifecycle = { status: "deprecated", sunsetDate: "2027-01-01", replacement: "test__jot" };
  const { tool } = noteTool({ lifecycle });
  const { observation } = await benchFor([tool]).call("test__note", { text: "hi" });
  expect(observation.result_payload.warnings).toEqual([
    "this version of the tool is deprecated and ends on 2027-01-01; use test__jot instead",
  ]);
});

test("a version is refused after its sunset date, also within a run", async () => {
  const lifecycle = { status: "deprecated", sunsetDate: "2026-01-03", replacement: null };
  const { tool } = noteTool({ lifecycle });
  const { call, clock } = benchFor([tool]);
  expect((await call("test__note", { text: "a" })).ok).toBe(true);
  clock.advance(86_400_000);
  const gone = await call("test__note", { text: "b" });
  expect([endOf(gone), gone.errorCode]).toEqual([
    ["STRUCTURAL_VIOLATION", "unknown_tool"],
    "unavailable",
  ]);
});

import { expect } from "vitest";
import { benchFor, endOf, type BenchSettings } from "../../src/testing/fakes/runner-ports.ts";
import { noteTool } from "../shared/tools.ts";

export const allowing = (more: object = {}): object => ({ allowedTools: ["test__note"], ...more });

/** Makes a call that is refused, and returns the traces of each stage. */
export async function refuse(
  settings: BenchSettings,
  change: object = {},
): Promise<{ end: readonly unknown[]; asked: number; reserved: number; reached: number }> {
  const { tool, reached } = noteTool(change);
  const bench = benchFor([tool], settings);
  const end = endOf(await bench.call("test__note", { text: "hi" }));
  expect(bench.journal.events.map(({ type }) => type)).toEqual(["tool_call_result"]);
  const { questions, reservations } = bench;
  return { end, asked: questions.length, reserved: reservations.length, reached: reached.length };
}

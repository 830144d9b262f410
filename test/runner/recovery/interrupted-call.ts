import { expect } from "vitest";
import type { ToolInvocationRecord } from "../../../src/protocol/invocation/record.ts";
import { fail, ok } from "../../../src/protocol/outcome/result.ts";
import {
  benchFor,
  drainPromises,
  passing,
  type Bench,
  type BenchSettings,
} from "../../../src/testing/fakes/runner-ports.ts";
import { never } from "../answers.ts";
import { noteTool } from "../../shared/tools.ts";

export const NAME = "test__note";
export const ARGS = { text: "hi" };
export const AT = { step: 1, id: "a" };
export const IDEMPOTENT = { idempotency: { supported: true } };

export const failing = (taxonomyClass: string, more: object = {}) =>
  fail({ taxonomyClass, errors: [{ field: null, code: "no", message: "no" }], ...more });

export const works = () => ok({ text: "done" });
export const COMMITTED = () => ({ kind: "committed", output: { text: "found" } });

/** Makes a write tool with a list of executions. The last execution repeats. */
export function toolOf(executions: readonly (() => unknown)[], change: object = {}) {
  const keys: string[] = [];
  const { tool } = noteTool({
    execute(_args: unknown, _context: unknown, { idempotencyKey }: { idempotencyKey: string }) {
      const execution = executions[Math.min(keys.length, executions.length - 1)];
      keys.push(idempotencyKey);
      return execution?.();
    },
    ...change,
  });
  return { tool, keys };
}

export const INTERRUPTIONS = {
  timeout: never,
  throw: () => {
    throw new Error("s3cret");
  },
  crash: never,
} as const;

type Interruption = keyof typeof INTERRUPTIONS;

/** Returns the records of an incarnation that ends while the tool runs. */
export async function crashWhileRunning(tool: unknown, settings: BenchSettings = {}) {
  const { ask, journal } = benchFor([tool], settings);
  void ask(NAME, ARGS, AT);
  await drainPromises();
  expect(journal.records).toMatchObject([{ state: "PENDING", dispatches: 1 }]);
  return journal.records;
}

/** Makes the outcome of a write unknown in one of the ways, then resumes the call. */
export async function resumeAfter(
  interruption: Interruption,
  tool: unknown,
  settings: BenchSettings = {},
) {
  const stored = interruption === "crash" ? await crashWhileRunning(tool, settings) : [];
  const bench = benchFor([tool], { ...settings, stored });
  const outcome = await passing(bench.ask(NAME, ARGS, AT), bench.clock);
  return { outcome, bench, record: recordOf(bench, stored) };
}

export function recordOf({ journal }: Bench, stored: readonly ToolInvocationRecord[] = []) {
  const [record = stored[0]] = journal.records;
  if (!record) throw new Error("there is no record");
  return record;
}

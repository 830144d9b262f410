import type { AnyToolContract } from "../../../src/contracts/define/definition.ts";
import { makeSubject, stillRuns, type Subject, type Surroundings } from "./subject.ts";
import { schemaDrift } from "./modes/schema-drift.ts";
import { inapplicable, type Checks, type Inapplicable, type TestMode } from "./test-mode.ts";
import { TEST_MODES } from "./test-modes.ts";

/** One rule, the number of its checks, and what was seen when it failed. */
export interface Check {
  readonly rule: string;
  readonly times: number;
  /** The first time only. */
  readonly broken?: string;
}

/** Result of one mode for one contract. */
export interface Cell {
  readonly mode: TestMode;
  readonly verdict: "pass" | "fail" | "-";
  /** Why it does not apply. */
  readonly reason?: string;
  readonly checks: readonly Check[];
}

/** Results of all modes for one contract. */
export interface Row {
  readonly key: string;
  readonly cells: readonly Cell[];
}

/**
 * Tests one contract in every mode. Contract: never throws. A mode that throws, or checks nothing,
 * fails.
 */
export async function evaluate(
  contract: AnyToolContract,
  surroundings: Surroundings,
): Promise<Row> {
  const key = `${contract.name}@${contract.version}`;
  let subject: Subject;
  try {
    subject = await makeSubject(contract, surroundings);
  } catch (error) {
    const checks = [{ rule: "it can be tested", times: 1, broken: formatError(error) }];
    return { key, cells: TEST_MODES.map((mode) => ({ mode, verdict: "fail", checks })) };
  }
  const cells: Cell[] = [];
  for (const mode of TEST_MODES) cells.push(await judge(mode, subject));
  return { key, cells };
}

async function judge(mode: TestMode, subject: Subject): Promise<Cell> {
  const notes = new Notes();
  let skipped: Inapplicable | undefined;
  try {
    skipped = isGone(subject, mode)
      ? inapplicable("its version does not run any more")
      : await mode.run(subject, notes);
  } catch (error) {
    notes.that("the test comes to its end", false, formatError(error));
  }
  const checks = notes.all;
  return { mode, verdict: verdictOf(checks, skipped), checks, ...skipped };
}

/** A version that no call reaches is tested only for its promises. */
function isGone({ contract }: Subject, mode: TestMode): boolean {
  return mode !== schemaDrift && !stillRuns(contract);
}

function verdictOf(checks: readonly Check[], skipped: Inapplicable | undefined): Cell["verdict"] {
  if (checks.some(({ broken }) => broken !== undefined)) return "fail";
  if (skipped) return "-";
  return checks.length > 0 ? "pass" : "fail";
}

class Notes implements Checks {
  readonly #checks = new Map<string, Check>();

  get all(): readonly Check[] {
    return [...this.#checks.values()];
  }

  that(rule: string, holds: boolean, seen?: unknown): void {
    const known = this.#checks.get(rule);
    const broken = known?.broken ?? (holds ? undefined : formatSeen(seen));
    const times = (known?.times ?? 0) + 1;
    this.#checks.set(rule, { rule, times, ...(broken !== undefined && { broken }) });
  }
}

const MAX_SEEN_CHARS = 600;

function formatSeen(seen: unknown): string {
  if (seen === undefined) return "it does not";
  const text = typeof seen === "string" ? seen : JSON.stringify(seen);
  return text.length > MAX_SEEN_CHARS ? `${text.slice(0, MAX_SEEN_CHARS)}…` : text;
}

function formatError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

import { countOf } from "../../src/protocol/run/words.ts";
import type { Evaluated } from "./evaluated-runs.ts";
import { MODES, type EvaluationMode, type Fault } from "./modes.ts";

/** What one mode found in all runs. */
export interface ModeReport extends Pick<EvaluationMode, "id" | "name" | "needs"> {
  readonly looked: number;
  readonly faults: readonly Fault[];
}

/** Looks at all runs of a verified export in all modes. Contract: pure. */
export function evaluateRuns({ runs, contracts }: Evaluated): readonly ModeReport[] {
  return MODES.map(({ id, name, needs, look }) => {
    const found = runs.map((run) => look(run, contracts));
    const looked = found.reduce((sum, one) => sum + one.looked, 0);
    return { id, name, needs, looked, faults: found.flatMap(({ faults }) => faults) };
  });
}

/** Most faults of a mode that are printed one by one. */
const MAX_PRINTED = 20;

/** Writes the reports as lines for people. */
export function formatReports(reports: readonly ModeReport[]): readonly string[] {
  return reports.flatMap(({ name, needs, looked, faults }) => {
    const nothing = needs === "log" ? "nothing to look at" : `nothing to look at without ${needs}`;
    const found = faults.length > 0 ? countOf(faults.length, "fault") : "no fault";
    const head = `${name}: ${looked === 0 && faults.length === 0 ? nothing : `${looked} looked at, ${found}`}`;
    const shown = faults
      .slice(0, MAX_PRINTED)
      .map(
        ({ runId, invocationId, what }) =>
          `  ${runId}${invocationId === undefined ? "" : ` ${invocationId}`}: ${what}`,
      );
    const more = faults.length - shown.length;
    return [head, ...shown, ...(more > 0 ? [`  and ${more} more`] : [])];
  });
}

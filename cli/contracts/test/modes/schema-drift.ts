import { isJsonObject, type JsonObject } from "../../../../src/protocol/json/value.ts";
import { ok } from "../../../../src/protocol/outcome/result.ts";
import { endOf } from "../../../../src/testing/fakes/runner-ports.ts";
import { mutationOf } from "../schema-values.ts";
import { reviewLock } from "../../lock/review-lock.ts";
import { formatFindings } from "../../lock/format-findings.ts";
import { sampleFrom, stillRuns, type Subject } from "../subject.ts";
import type { Checks, TestMode } from "../test-mode.ts";
import { openTrial } from "../trial.ts";

const OUTPUTS = 30;

/** The contract equals its lock, and an output outside the schema is noticed. */
export const schemaDrift: TestMode = {
  id: "drift",
  name: "Schema Drift",
  async run(subject, checks) {
    checkLock(subject, checks);
    if (!stillRuns(subject.contract)) return undefined;
    const drifted = sampleFrom(mutationOf(subject.outputSchema), OUTPUTS);
    for (const { args: output } of drifted) {
      const { call } = openTrial(subject, { answer: () => ok(output) });
      const result = await call(subject.validArgs[0]);
      const [end] = endOf(result);
      const isNoticed = end === "OBSERVATION_NORMALIZATION_FAIL" && result.value === undefined;
      checks.that("an output that does not fit the contract goes nowhere", isNoticed, [
        end,
        fieldsOf(output),
      ]);
    }
    return undefined;
  },
};

function checkLock({ key, lock, published }: Subject, checks: Checks): void {
  checks.that("the contract lock can be read", lock.ok, lock.ok ? undefined : lock.failure);
  if (!lock.ok) return;
  const current = new Map([[key, published]]);
  const promised = new Map([...lock.value].filter(([locked]) => locked === key));
  const rule = "the contract keeps what its version promised in the lock";
  for (const finding of reviewLock(promised, current)) {
    const isKept = finding.kind === "same" || finding.kind === "compatible";
    checks.that(rule, isKept, formatFindings([finding]));
  }
}

function fieldsOf(output: JsonObject): readonly string[] {
  return Object.entries(output).map(([name, value]) => {
    return `${name}: ${isJsonObject(value) ? "object" : typeof value}`;
  });
}

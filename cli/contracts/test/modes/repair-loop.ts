import { ok } from "../../../../src/protocol/outcome/result.ts";
import { endOf } from "../../../../src/testing/fakes/runner-ports.ts";
import type { Subject } from "../subject.ts";
import type { Checks, TestMode } from "../test-mode.ts";
import { openTrial, type Trial } from "../trial.ts";

/** Number of invalid calls that are repaired. */
const CASES = 8;

/**
 * A refused call says what to repair, and a repaired call runs. Repeated invalid calls end the
 * tool.
 */
export const repairLoop: TestMode = {
  id: "repair",
  name: "Repair Loop",
  async run(subject, checks) {
    for (const { args } of subject.badArgs.slice(0, CASES)) {
      const { call, started } = open(subject);
      const { observation, response } = await call(args);
      const { errors } = observation.result_payload;
      checks.that(
        "a refusal may be repaired, and says so",
        response.repairable && response.next_action === "repair_arguments",
        response,
      );
      const isTold = errors.length > 0 && errors.every(({ message }) => /\S/.test(message));
      checks.that("a refusal says what was expected", isTold, errors);
      const mended = await call(subject.validArgs[0]);
      checks.that("the mended call runs", mended.ok && started.length === 1, endOf(mended));
    }
    await checkSameAgain(subject, checks);
    await checkLimit(subject, checks);
    return undefined;
  },
};

function open(subject: Subject, policy: object = {}): Trial {
  return openTrial(subject, { answer: () => ok(subject.outputs[0]), policy });
}

async function checkSameAgain(subject: Subject, checks: Checks): Promise<void> {
  for (const { args } of subject.badArgs.slice(0, CASES)) {
    const trial = open(subject);
    await trial.call(args);
    const { response } = await trial.call(args);
    const rule = "the same bad arguments in two steps end the repair";
    checks.that(rule, !response.repairable, response);
    await checkWithdrawn(trial, subject, checks);
  }
}

async function checkLimit(subject: Subject, checks: Checks): Promise<void> {
  const trial = open(subject, { budgets: { maxRepairs: 1 } });
  await trial.call("[1");
  const { response } = await trial.call("[2");
  checks.that("more repairs than policy allows end the repair", !response.repairable, response);
  await checkWithdrawn(trial, subject, checks);
}

async function checkWithdrawn(
  { bench, call, started }: Trial,
  { contract, validArgs }: Subject,
  checks: Checks,
): Promise<void> {
  const isHidden = bench.runner.isWithdrawn(contract.name);
  checks.that("a tool whose repair ended is not shown any more", isHidden);
  const [end, code] = endOf(await call(validArgs[0]));
  const isRefused = end === "BUDGET_EXHAUSTED" && code === "tool_withdrawn" && started.length === 0;
  checks.that("a tool whose repair ended does not run any more", isRefused, [end, code]);
}

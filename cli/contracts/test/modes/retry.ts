import { mayHaveChanged } from "../../../../src/protocol/outcome/response-vector.ts";
import { ok } from "../../../../src/protocol/outcome/result.ts";
import type { FailureClass } from "../../../../src/protocol/outcome/taxonomy.ts";
import { WAITING } from "../../../../src/runner/waiting.ts";
import { endOf } from "../../../../src/testing/fakes/runner-ports.ts";
import type { Subject } from "../subject.ts";
import type { Checks, TestMode } from "../test-mode.ts";
import { failing, openTrial, type TrialSettings } from "../trial.ts";

/**
 * A retryable failure is retried as often as the contract says, if that is safe. No other failure
 * is.
 */
export const retry: TestMode = {
  id: "retry",
  name: "Retry",
  async run(subject, checks) {
    const { errors } = subject.contract;
    const retryable = new Set(subject.published.contract.error_contract.retryable_errors);
    const isSafe = maySafelyRepeat(subject);
    checks.that(
      "the contract calls an outage retryable exactly if the tool may run twice",
      retryable.has("DEPENDENCY_UNAVAILABLE") === isSafe && retryable.has("TIMEOUT") === isSafe,
      [...retryable],
    );
    // A given delay keeps the growing backoff from ending the retries early.
    const outage = failing("DEPENDENCY_UNAVAILABLE", { retryAfterMs: 1 });
    await checkRuns(subject, checks, {
      what: "an outage",
      taxonomyClass: "DEPENDENCY_UNAVAILABLE",
      answer: () => outage,
      isRetried: isSafe,
    });
    for (const [code, taxonomyClass] of Object.entries(errors)) {
      const failure = failing(taxonomyClass, { code, retryAfterMs: 1 });
      const isRetried = retryable.has(taxonomyClass);
      const what = `its ${code}`;
      await checkRuns(subject, checks, { what, taxonomyClass, answer: () => failure, isRetried });
    }
    const refusal = failing("SEMANTIC_INVALIDITY", { retryAfterMs: 1 });
    await checkRuns(subject, checks, {
      what: "a refusal",
      taxonomyClass: "SEMANTIC_INVALIDITY",
      answer: () => refusal,
      isRetried: false,
    });
    await checkRuns(subject, checks, {
      what: "a bug",
      taxonomyClass: "UNKNOWN_ERROR",
      answer: throwBug,
      isRetried: false,
    });
    await checkTimeout(subject, checks);
    if (isSafe && subject.contract.runtime.maxRetries > 0) await checkRecovery(subject, checks);
    if (subject.contract.runtime.retryForMs > 0) await checkLongOutage(subject, checks);
    return undefined;
  },
};

function maySafelyRepeat({ contract }: Subject): boolean {
  return contract.effect === "read_only" || contract.idempotency.supported;
}

interface Failing {
  readonly what: string;
  readonly taxonomyClass: FailureClass;
  readonly answer: NonNullable<TrialSettings["answer"]>;
  readonly isRetried: boolean;
}

async function checkRuns(
  subject: Subject,
  checks: Checks,
  { what, taxonomyClass, answer, isRetried }: Failing,
): Promise<void> {
  const { ask, started } = openTrial(subject, { answer });
  const outcome = await ask(subject.validArgs[0], { inHaste: true });
  const expected = isRetried ? 1 + subject.contract.runtime.maxRetries : 1;
  const rule = `after ${what} it runs ${isRetried ? "as often as the contract says" : "once"}`;
  checks.that(rule, started.length === expected, { expected, ran: started.length });
  const keys = new Set(started.map(({ key }) => key));
  checks.that("every run of a call has the same key", keys.size === 1, [...keys]);
  const isInDoubt = mayHaveChanged(taxonomyClass, { dispatched: true, mutates: mutates(subject) });
  const waits = outcome === WAITING;
  checks.that(IN_DOUBT, waits === isInDoubt, { after: what, waits });
  if (waits) return;
  const { attempt_number: seen } = outcome.observation.execution_metadata;
  checks.that("the observation names the number of attempts", seen === expected, seen);
}

const IN_DOUBT =
  "an operator is asked about a write that may have happened, and about no other call";

function mutates({ contract }: Subject): boolean {
  return contract.effect !== "read_only";
}

function throwBug(): never {
  throw new Error("a bug of the tool");
}

async function checkTimeout(subject: Subject, checks: Checks): Promise<void> {
  const { ask, started } = openTrial(subject, { answer: () => new Promise(() => {}) });
  const outcome = await ask(subject.validArgs[0], { inHaste: true });
  const waits = outcome === WAITING;
  checks.that(IN_DOUBT, waits === mutates(subject), { after: "a timeout", waits });
  const seen = waits ? "TIMEOUT" : endOf(outcome)[0];
  checks.that("a tool that does not answer ends by its timeout", seen === "TIMEOUT", seen);
  const { maxRetries } = subject.contract.runtime;
  const isRetried = maySafelyRepeat(subject) && maxRetries > 0;
  // The backoff grows. A delay that is too long ends the retries.
  const isRight = isRetried
    ? started.length > 1 && started.length <= 1 + maxRetries
    : started.length === 1;
  checks.that("after a timeout it runs again only if it may run twice", isRight, started.length);
}

/** Fails for long: the write is repeated under one key until the run rests. */
async function checkLongOutage(subject: Subject, checks: Checks): Promise<void> {
  const answer = (): unknown => failing("DEPENDENCY_UNAVAILABLE");
  const { ask, started } = openTrial(subject, { answer, keepsTrying: true });
  await ask(subject.validArgs[0], { inHaste: true });
  checks.that("a write is repeated while its service fails", started.length > 1, started.length);
  const keys = new Set(started.map(({ key }) => key));
  checks.that("every run of a call has the same key", keys.size === 1, [...keys]);
}

/** Fails once, then succeeds, with the contract's own state check before each attempt. */
async function checkRecovery(subject: Subject, checks: Checks): Promise<void> {
  const { call, started } = openTrial(subject, {
    answer: (attempt) =>
      attempt === 1 ? failing("DEPENDENCY_UNAVAILABLE") : ok(subject.outputs[0]),
    code: (own) => ({ ...(own.checkState && { checkState: own.checkState.bind(own) }) }),
  });
  const result = await call(subject.validArgs[0], { inHaste: true });
  // A missing target proves nothing about retries.
  if (started.length === 0) return;
  checks.that("the attempt after a failure can succeed", result.ok, endOf(result));
}

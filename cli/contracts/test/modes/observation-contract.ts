import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { ObservationObject } from "../../../../src/protocol/outcome/observation.ts";
import { ok } from "../../../../src/protocol/outcome/result.ts";
import type { FailureClass } from "../../../../src/protocol/outcome/taxonomy.ts";
import type { ToolExecResult } from "../../../../src/protocol/invocation/record.ts";
import { WAITING } from "../../../../src/runner/waiting.ts";
import { endOf } from "../../../../src/testing/fakes/runner-ports.ts";
import { checkAnswered } from "../fake-network.ts";
import { completeValue, isShown, pathsIn } from "../complete-value.ts";
import { validatorOf, type Subject } from "../subject.ts";
import type { Checks, TestMode } from "../test-mode.ts";
import { failing, openTrial, type Trial } from "../trial.ts";

const SCHEMA_FILE = join(import.meta.dirname, "../observation.schema.json");
/** Number of calls that run the tool's own function. */
const REAL_CALLS = 15;
const MARKER = "zq7marker";

/** Every outcome is an observation of the closed schema and shows only what the contract allows. */
export const observationContract: TestMode = {
  id: "observation",
  name: "Observation Contract",
  async run(subject, checks) {
    const expectShape = ({ observation }: ToolExecResult): void =>
      checks.that("it fits the closed schema of an observation", isObservation(observation));
    for (const output of subject.outputs) {
      const result = await openTrial(subject, { answer: () => ok(output) }).call(
        subject.validArgs[0],
      );
      expectShape(result);
      checks.that("an output that fits is a success", result.ok, endOf(result));
      checkShown(subject, checks, result.value ?? {});
    }
    await checkRedaction(subject, checks);
    for (const end of declaredEnds(subject)) {
      const result = await checkEnd(subject, checks, end);
      if (result !== WAITING) expectShape(result);
    }
    let hasSucceeded = false;
    for (const args of subject.validArgs.slice(0, REAL_CALLS)) {
      const { ask, network, started } = openTrial(subject);
      const result = await ask(args);
      checkAnswered(checks, network);
      if (result === WAITING) continue;
      expectShape(result);
      hasSucceeded ||= result.ok;
      if (started.length > 0) checkOwnAnswer(subject, checks, result);
    }
    if (subject.exchanges.length > 0) {
      checks.that("a call with its sample exchanges is a success", hasSucceeded);
      await checkFailingService(subject, checks);
    }
    await checkEcho(subject, checks);
    return undefined;
  },
};

/** Compiled once for all contracts. */
let validate: ValidateFunction | undefined;

function isObservation(value: ObservationObject): boolean {
  validate ??= compileSchema();
  return validate(value);
}

function compileSchema(): ValidateFunction {
  const ajv = new Ajv2020({ strict: false });
  addFormats(ajv);
  return ajv.compile(JSON.parse(readFileSync(SCHEMA_FILE, "utf8")) as object);
}

function checkShown(subject: Subject, checks: Checks, data: object): void {
  const { output } = subject.contract.redaction;
  const hidden = pathsIn(JSON.parse(JSON.stringify(data))).find(
    (path) => path !== "" && !isShown(path, output),
  );
  checks.that("no field of the output that is not in the allowlist leaves", !hidden, hidden);
}

/** Puts a distinct text into every free place. The run's log contains only allowlisted texts. */
async function checkRedaction(subject: Subject, checks: Checks): Promise<void> {
  const { redaction, runtime } = subject.contract;
  const mark = (side: string) => (path: string) => `${MARKER}-${side}-${path}.`;
  const args = completeValue(subject.inputSchema, mark("in"));
  const output = completeValue(subject.outputSchema, mark("out"));
  const fits = validatorOf(subject.outputSchema)(output.value);
  const shown = fits ? output : { value: subject.outputs[0], texts: [] };
  const trial = openTrial(subject, {
    answer: () => ok(shown.value),
    change: { rules: [], runtime: { ...runtime, maxResultBytes: 262_144 } },
  });
  const { observation } = await trial.call(args.value);
  const log = logOf(trial, observation);
  const withheld = (texts: readonly string[], allowlist: readonly string[]): readonly string[] =>
    texts.filter((path) => !allowlist.some((allowed) => covers(allowed, path)));
  // An argument and a field of the output may have the same name, and one of them may be shown.
  const leaked = [
    ...withheld(args.texts, redaction.args).map(mark("in")),
    ...withheld(shown.texts, redaction.output).map(mark("out")),
  ].filter((text) => log.includes(text));
  checks.that("no text that is not in the allowlist is in the log", leaked.length === 0, leaked);
  const [start] = trial.bench.journal.events;
  const startArgs = start?.type === "tool_call_start" ? start.args : {};
  const hidden = pathsIn(startArgs).find((path) => path !== "" && !isShown(path, redaction.args));
  checks.that("no argument that is not in the allowlist is in the log", !hidden, hidden);
}

function covers(allowed: string, path: string): boolean {
  return `${path}.`.startsWith(`${allowed}.`);
}

/** Everything of a run except what only its storage contains. */
function logOf({ bench }: Trial, observation: ObservationObject): string {
  const records = bench.journal.records.map(({ argumentsText: _raw, end, ...record }) => {
    const { compensation: _undo, verification: _expected, ...told } = end ?? {};
    return { ...record, end: told };
  });
  return JSON.stringify([bench.journal.events, records, observation]);
}

interface DeclaredEnd {
  readonly taxonomyClass: FailureClass;
  readonly code?: string;
}

function declaredEnds({ contract, published }: Subject): readonly DeclaredEnd[] {
  const classes = new Set(Object.values(published.contract.error_contract).flat());
  return [
    ...[...classes].map((taxonomyClass): DeclaredEnd => ({ taxonomyClass })),
    ...Object.entries(contract.errors).map(([code, taxonomyClass]) => ({ code, taxonomyClass })),
  ];
}

async function checkEnd(
  subject: Subject,
  checks: Checks,
  { taxonomyClass, code = "harness" }: DeclaredEnd,
): Promise<ToolExecResult | typeof WAITING> {
  const { runtime } = subject.contract;
  const result = await openTrial(subject, {
    answer: () => failing(taxonomyClass, { code }),
    change: { runtime: { ...runtime, maxRetries: 0 } },
  }).ask(subject.validArgs[0]);
  // A call with an unknown outcome is observed after an operator resolves it; the mode Retry checks
  // which calls these are.
  if (result === WAITING) return result;
  const { observation } = result;
  const isNamed = endOf(result).join() === `${taxonomyClass},${code}`;
  checks.that("a failure keeps its class and its code", isNamed, [endOf(result), taxonomyClass]);
  const { repairable_errors, retryable_errors, fail_closed_errors } =
    subject.published.contract.error_contract;
  const { repairable, retryable, fail_closed } = observation.status;
  const isAsPublished =
    repairable === repairable_errors.includes(taxonomyClass) &&
    retryable === retryable_errors.includes(taxonomyClass) &&
    fail_closed === fail_closed_errors.includes(taxonomyClass);
  checks.that("what may follow a failure is as the contract publishes it", isAsPublished, [
    taxonomyClass,
    observation.status,
  ]);
  return result;
}

/** The tool's own function succeeds, or fails with a declared code. */
function checkOwnAnswer({ contract }: Subject, checks: Checks, result: ToolExecResult): void {
  const [end, code = ""] = endOf(result);
  const isDeclared = result.ok || Object.hasOwn(contract.errors, code);
  const hint = "list the code in `errors`, or mend what the tool answers";
  checks.that("the tool answers as its contract says", isDeclared, [end, code, hint]);
}

/** Answers of a service that no tool wants. */
const BAD_ANSWERS: readonly (() => Response)[] = [
  ...[302, 400, 401, 403, 404, 409, 412, 429, 500, 503].map(
    (status) => () => new Response(null, { status }),
  ),
  () => new Response("<html>", { headers: { "content-type": "application/json" } }),
  () => Response.json({ unexpected: [null] }),
  () => Response.json({ unexpected: [null] }, { status: 201 }),
];

/** Whatever the service answers, the tool throws nothing and fails with a declared code. */
async function checkFailingService(subject: Subject, checks: Checks): Promise<void> {
  const { runtime } = subject.contract;
  for (const service of BAD_ANSWERS) {
    const { ask } = openTrial(subject, {
      service,
      change: { runtime: { ...runtime, maxRetries: 0 } },
    });
    const result = await ask(subject.validArgs[0]);
    if (result !== WAITING) checkOwnAnswer(subject, checks, result);
  }
}

/** A failure that repeats its arguments would leak their content. */
async function checkEcho(subject: Subject, checks: Checks): Promise<void> {
  const { value } = completeValue(subject.inputSchema, () => MARKER);
  const outcome = await openTrial(subject, { change: { rules: [] } }).ask(value);
  const told = outcome === WAITING ? "" : JSON.stringify(outcome.observation.result_payload.errors);
  checks.that("a failure never repeats what the arguments hold", !told.includes(MARKER), told);
}

import { isDeepStrictEqual } from "node:util";
import type { AuthorCode } from "../../../src/contracts/define/author-code.ts";
import type {
  ToolExecResult,
  ToolInvocationRecord,
} from "../../../src/protocol/invocation/record.ts";
import type { ActorId } from "../../../src/protocol/identity/ids.ts";
import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { ok } from "../../../src/protocol/outcome/result.ts";
import { WAITING } from "../../../src/runner/waiting.ts";
import { endOf } from "../../../src/testing/fakes/runner-ports.ts";
import type { Subject } from "./subject.ts";
import type { Checks } from "./test-mode.ts";
import { openTrial, type Trial, type TrialSettings } from "./trial.ts";

/** The operation of every check in this file. */
const AT = { step: 1, id: "call_1" } as const;

/**
 * Checks that an operation has one effect when it is requested again: in the same incarnation, in
 * the next one, with other arguments, and after a crash with an unknown outcome.
 */
export async function checkLedger(subject: Subject, checks: Checks): Promise<void> {
  const first = open(subject);
  const [args, ...others] = subject.validArgs;
  const result = await first.call(args, AT);
  if (!result.ok) return checks.that("a call that can be repeated goes well", false, endOf(result));
  checkStored(checks, { first, result, again: await first.call(args, AT), ran: first.started });
  const { records } = first.bench.journal;
  const next = open(subject, { ports: { stored: records } });
  checkStored(checks, { first, result, again: await next.call(args, AT), ran: next.started });
  if (subject.contract.effect === "read_only") return;
  const [asked] = first.bench.journal.secured;
  const isWrittenAhead = asked?.[0]?.dispatches === 1 && asked[0].state === "PENDING";
  checks.that("that it is about to act is durable before it acts", isWrittenAhead, asked);
  if (!asked) return;
  const stored = asked.map((record) => ({ ...record, dispatches: 0 }));
  const other = others.find((candidate) => !isDeepStrictEqual(candidate, args));
  if (other) await checkRefused(checks, open(subject, { ports: { stored } }), other);
  const principal = { actorId: "user:bo" as ActorId };
  await checkRefused(checks, open(subject, { ports: { stored }, principal }), args);
  await checkCrash(subject, checks, asked);
}

/** With other arguments, or for another caller, it is another operation under the same id. */
async function checkRefused(checks: Checks, trial: Trial, args: JsonObject): Promise<void> {
  const refused = endOf(await trial.call(args, AT));
  const isRefused = refused[0] === "SIGNATURE_MISMATCH" && trial.started.length === 0;
  checks.that("another operation under the same name is refused", isRefused, refused);
}

function open(subject: Subject, settings: TrialSettings = {}): Trial {
  return openTrial(subject, { answer: () => ok(subject.outputs[0]), ...settings });
}

interface Repeated {
  readonly first: Trial;
  readonly result: ToolExecResult;
  readonly again: ToolExecResult;
  /** What reached the tool in the incarnation that was asked again. */
  readonly ran: Trial["started"];
}

function checkStored(checks: Checks, { first, result, again, ran }: Repeated): void {
  const { execution_metadata: metadata, ...told } = again.observation;
  const { execution_metadata: before, ...toldBefore } = result.observation;
  const isStored = isDeepStrictEqual(told, toldBefore) && metadata.timestamp === before.timestamp;
  checks.that("an operation that is repeated is answered with what is stored", isStored, told);
  checks.that("the answer says that it is a stored one", metadata.idempotency_hit, metadata);
  const effects = ran === first.started ? 1 : 0;
  checks.that("a repeated operation runs once in all", ran.length === effects, ran.length);
}

/** The object crashed after it recorded the dispatch. The contract decides what follows. */
async function checkCrash(
  subject: Subject,
  checks: Checks,
  stored: readonly ToolInvocationRecord[],
): Promise<void> {
  const { contract } = subject;
  const key = stored[0]?.binding?.idempotencyKey;
  const live = (code: AuthorCode = {}): Trial =>
    open(subject, { ports: { stored }, code: () => code });
  if (contract.idempotency.supported) {
    const { call, started } = live();
    const result = await call(subject.validArgs[0], AT);
    const keys = started.map((run) => run.key);
    const isOnce = result.ok && keys.length === 1 && keys[0] === key;
    checks.that("after a crash it runs again under its key, as its contract allows", isOnce, keys);
    return;
  }
  const waiting = live({ reconcile: () => Promise.resolve({ kind: "unknown" }) });
  const outcome = await waiting.ask(subject.validArgs[0], AT);
  const isAsked = outcome === WAITING && waiting.started.length === 0;
  checks.that("after a crash an operator is asked, and it does not run again", isAsked);
  const told = live({
    reconcile: () => Promise.resolve({ kind: "committed", output: subject.outputs[0] }),
  });
  const found = await told.call(subject.validArgs[0], AT);
  const isFound = found.ok && told.started.length === 0;
  checks.that("an effect that its contract finds is not made again", isFound, endOf(found));
  const clear = live({ reconcile: () => Promise.resolve({ kind: "not_committed" }) });
  const made = await clear.call(subject.validArgs[0], { ...AT, inHaste: true });
  const isMade = made.ok && clear.started.length === 1 && clear.started[0]?.key === key;
  checks.that("what its contract knows not to have happened is made, once", isMade, endOf(made));
}

import { isDeepStrictEqual } from "node:util";
import type { ActorId, TenantId } from "../../../../src/protocol/identity/ids.ts";
import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { ok } from "../../../../src/protocol/outcome/result.ts";
import { endOf } from "../../../../src/testing/fakes/runner-ports.ts";
import type { Subject } from "../subject.ts";
import { checkLedger } from "../check-ledger.ts";
import { checkAnswered, type FakeNetwork } from "../fake-network.ts";
import type { Checks, TestMode } from "../test-mode.ts";
import { failing, openTrial, type CallSettings, type TrialSettings } from "../trial.ts";

/**
 * A call has one idempotency key in all attempts, and no other call has it. A call has one effect,
 * also after a crash.
 */
export const idempotency: TestMode = {
  id: "idempotency",
  name: "Idempotency",
  async run(subject, checks) {
    const { contract } = subject;
    const isRead = contract.effect === "read_only";
    await checkAttempts(subject, checks);
    await checkOthers(subject, checks);
    if (!isRead && contract.idempotency.supported) await checkRepeated(subject, checks);
    await checkLedger(subject, checks);
    return undefined;
  },
};

/** Makes the first attempt fail before its dispatch, which every tool may repeat. */
async function checkAttempts(subject: Subject, checks: Checks): Promise<void> {
  const keys: string[] = [];
  const isRead = subject.contract.effect === "read_only";
  const { call, started } = openTrial(subject, {
    answer: (attempt) =>
      isRead && attempt === 1 ? failing("DEPENDENCY_UNAVAILABLE") : ok(subject.outputs[0]),
    change: withRetries(subject),
    code: () => ({
      checkState(_args, _context, granted) {
        keys.push((granted as { readonly idempotencyKey: string }).idempotencyKey);
        return ok(null);
      },
    }),
    ports: isRead ? {} : { ledgerAnswers: [{ kind: "unavailable" }] },
  });
  const result = await call(subject.validArgs[0], { inHaste: true });
  checks.that("an attempt that could not start is made again", result.ok, endOf(result));
  const used = new Set([...keys, ...started.map(({ key }) => key)]);
  const isOne = keys.length === 2 && used.size === 1 && !used.has("");
  checks.that("every attempt at a call is given the same key", isOne, [...used]);
}

async function checkOthers(subject: Subject, checks: Checks): Promise<void> {
  const [args, ...rest] = subject.validArgs;
  const other = rest.find((candidate) => !isDeepStrictEqual(candidate, args));
  const first: CallSettings = { step: 1, id: "call_1" };
  const keyOf = (settings: TrialSettings, at: CallSettings = first): Promise<string> =>
    keyOfCall(subject, settings, { args, at });
  const key = await keyOf({});
  checks.that(
    "the same call has the same key wherever it runs",
    key !== "" && key === (await keyOf({})),
  );
  const others = {
    "another step": await keyOf({}, { ...first, step: 2 }),
    "another call of a step": await keyOf({}, { ...first, id: "call_2" }),
    "another tenant": await keyOf({ principal: { tenantId: "other" as TenantId } }),
    "another actor": await keyOf({ principal: { actorId: "user:bo" as ActorId } }),
    ...(other && { "other arguments": await keyOfCall(subject, {}, { args: other, at: first }) }),
  };
  const keys = [key, ...Object.values(others)];
  const areDifferent = new Set(keys).size === keys.length;
  checks.that("calls that differ in anything have different keys", areDifferent, others);
}

async function keyOfCall(
  subject: Subject,
  settings: TrialSettings,
  { args, at }: { readonly args: JsonObject; readonly at: CallSettings },
): Promise<string> {
  // A connection belongs to one tenant and is not part of the key.
  const { contract } = subject;
  const change = {
    requiresConnection: false,
    capabilities: contract.capabilities.filter((name) => name !== "auth"),
    security: { ...contract.security, secretsBoundary: "none" as const },
  };
  const answer = (): unknown => ok(subject.outputs[0]);
  const { call, started } = openTrial(subject, { answer, change, ...settings });
  await call(args, at);
  return started[0]?.key ?? "";
}

/** Makes the tool work, loses its answer, and lets it run again under the same key. */
async function checkRepeated(subject: Subject, checks: Checks): Promise<void> {
  for (const args of subject.validArgs.slice(0, 5)) {
    const { answers, network } = await answerTwice(subject, args);
    const [first, second] = answers;
    if (first === undefined) continue;
    checkAnswered(checks, network);
    const isSame = isDeepStrictEqual(first, second);
    checks.that("it answers the same when it runs again under its key", isSame, [first, second]);
    const [write, again] = network.writes;
    const isRepeated = isDeepStrictEqual(write, again);
    checks.that("it sends the same again under its key", isRepeated, [write, again]);
  }
}

/** Returns the tool's own answer of each attempt, and what it sent. */
async function answerTwice(
  subject: Subject,
  args: JsonObject,
): Promise<{ readonly answers: readonly unknown[]; readonly network: FakeNetwork }> {
  const answers: unknown[] = [];
  const { ask, network } = openTrial(subject, {
    change: withRetries(subject),
    code: (own) => ({
      async execute(args, context, granted) {
        const answered = await own.execute?.(args, context, granted);
        answers.push(answered);
        return answers.length === 1 ? failing("DEPENDENCY_UNAVAILABLE") : answered;
      },
    }),
  });
  await ask(args, { inHaste: true });
  return { answers, network };
}

function withRetries({ contract }: Subject): NonNullable<TrialSettings["change"]> {
  return { runtime: { ...contract.runtime, maxRetries: 2 } };
}

import type { EffectEntry } from "../world/effect-book.ts";
import type { FollowedRun } from "../client/follow-run.ts";
import { fingerprintKey } from "../host/key-fingerprint.ts";
import { isAscending, isWhole, parseRunStream, type StreamedRun } from "../client/run-stream.ts";
import { callsOf, hasQuestion, isAttended, LASTING_CALLS, textOf } from "../world/scenario.ts";
import { hasEnded, type SeenState } from "../client/target.ts";

/** Number of effects that an invocation may have, by the final state of its record. */
const EFFECTS_OF: Readonly<Record<string, { readonly least: number; readonly most: number }>> = {
  COMPLETED: { least: 1, most: 1 },
  FAILED_RETRYABLE: { least: 0, most: 0 },
  FAILED_FINAL: { least: 0, most: 0 },
  EXPIRED: { least: 0, most: 1 },
};

/** An ended run and what it must be consistent with. */
export interface Evidence {
  readonly run: FollowedRun;
  /** What the world counted for the run. */
  readonly entries: readonly EffectEntry[];
  /** The run only crashed, so it must complete, or end with an outcome that nobody resolved. */
  readonly mustSucceed: boolean;
}

/**
 * Compares a run's state, its stream and its effects. Returns each contradiction as text.
 * Contract: returns nothing for a run whose effects each happened at most once and are recorded,
 * and which ended properly.
 */
export async function verifyRun({
  run,
  entries,
  mustSucceed,
}: Evidence): Promise<readonly string[]> {
  const stream = await parseRunStream(run.stream);
  return [
    ...verifyEnd(run, mustSucceed),
    ...verifyStream(run, stream),
    ...verifyLedger(run, stream),
    ...verifyOnce(entries),
    ...verifyApprovals(run, entries),
    ...(await verifyEffects(run.state, entries)),
  ];
}

function* verifyEnd({ state, script }: FollowedRun, mustSucceed: boolean): Generator<string> {
  const { status } = state;
  if (!hasEnded(state)) yield `ended as ${status}`;
  if (state.status === "completed" || !mustSucceed) return;
  const isUnanswered = state.error?.code === "outcome_unknown";
  const hasExpired = state.toolCalls.some((row) => row.state === "EXPIRED");
  const deaths = Math.max(script.crashes.length, state.recoveries ?? 0);
  const isPoisoned = state.error?.code === "interrupted" && deaths > MAX_RECOVERIES;
  if (!(isUnanswered && hasExpired) && !isPoisoned) {
    yield `${state.status} with ${state.error?.code ?? "no error"} after ${deaths} deaths`;
  }
}

/** Most recoveries without a finished step that a run survives. */
const MAX_RECOVERIES = 5;

function* verifyStream(run: FollowedRun, stream: StreamedRun): Generator<string> {
  if (run.uncut !== undefined && run.uncut !== run.stream)
    yield `the replay differs from the stream: ${difference(run.stream, run.uncut)}`;
  if (stream.doneCount !== 1) yield `${stream.doneCount} times done`;
  if (!isWhole(run.stream)) yield "done is not the last";
  if (!isAscending(stream.ids)) yield `ids do not ascend: ${stream.ids.join(" ")}`;
  if (stream.openTexts.length > 0) yield `texts left open: ${stream.openTexts.join(" ")}`;
  for (const { toolCallId, outcomes } of stream.calls) {
    if (outcomes.length !== 1) yield `${outcomes.length} results of ${toolCallId}`;
  }
  if (run.state.status !== "completed") return;
  const said = textOf(run.script);
  if (stream.text !== said) yield `the text is ${quote(stream.text)}, not ${quote(said)}`;
}

/** Each call of the stream has one record with the same outcome. A completed run has every call. */
function* verifyLedger({ state, script }: FollowedRun, stream: StreamedRun): Generator<string> {
  const inLedger = state.toolCalls.map(({ toolCallId, outcome }) => `${toolCallId} ${outcome}`);
  const inStream = stream.calls.map(({ toolCallId, outcomes }) => `${toolCallId} ${outcomes[0]}`);
  if (inLedger.toSorted().join() !== inStream.toSorted().join()) {
    yield `the ledger has [${inLedger.join()}], the stream [${inStream.join()}]`;
  }
  const planned = callsOf(script).length;
  if (state.status === "completed" && state.toolCalls.length !== planned) {
    yield `${state.toolCalls.length} calls of ${planned}`;
  }
}

/** An operation has at most one effect, over all its keys. */
function* verifyOnce(entries: readonly EffectEntry[]): Generator<string> {
  const sums = new Map<number, number>();
  for (const { operation, effects } of entries) {
    sums.set(operation, (sums.get(operation) ?? 0) + effects);
  }
  for (const [operation, effects] of sums) {
    if (effects > 1) yield `${effects} effects of operation ${operation}`;
  }
}

/**
 * A call with approvals ran only after both were sent, so a rejected one never ran. A call with a
 * question ran only after its answer, and each consent that lasts answered so many calls at most.
 */
function* verifyApprovals(
  { approver }: FollowedRun,
  entries: readonly EffectEntry[],
): Generator<string> {
  yield* approver.problems;
  const byConsent = new Set<number>();
  for (const { operation, effectClass, requests } of entries) {
    if (!isAttended(effectClass) || approver.approved.has(operation)) continue;
    if (effectClass === "asked" && !hasQuestion(operation)) byConsent.add(operation);
    else yield `${requests} requests of operation ${operation}, which lacks an approval`;
  }
  if (byConsent.size > approver.consents * LASTING_CALLS) {
    yield `${byConsent.size} operations by ${approver.consents} consents`;
  }
}

async function verifyEffects(
  { runId, toolCalls }: SeenState,
  entries: readonly EffectEntry[],
): Promise<readonly string[]> {
  const problems: string[] = [];
  const byHash = new Map<string, EffectEntry>();
  for (const entry of entries) byHash.set(await fingerprintKey(runId, entry.key), entry);
  for (const row of toolCalls) {
    const allowed = EFFECTS_OF[row.state ?? ""];
    const about = `${row.name} ${row.invocationId} is ${row.state}`;
    const entry = byHash.get(row.idempotencyKeyHash ?? "");
    const effects = entry?.effects ?? 0;
    const isRead = row.name === "chaos__look";
    if (row.awaitsOutcomeUntil !== undefined) problems.push(`${about}, and still awaits an answer`);
    if (!allowed) problems.push(about);
    else if (!isRead && (effects < allowed.least || effects > allowed.most)) {
      problems.push(`${about}, with ${effects} effects`);
    }
    if (entry) byHash.delete(row.idempotencyKeyHash ?? "");
  }
  for (const { key, operation, effects } of byHash.values()) {
    problems.push(
      `operation ${operation} came under a key of no row (${key}), with ${effects} effects`,
    );
  }
  return problems;
}

/** Shows both texts from shortly before their first difference. */
function difference(one: string, other: string): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  const from = Math.max(0, at - 20);
  return `${quote(one.slice(from))}, not ${quote(other.slice(from))}`;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

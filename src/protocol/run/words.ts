import type { TermChange } from "../approval/terms.ts";
import type { AuditAction, AuditEntry } from "../audit/entry.ts";
import { formatReason, OUTCOME_WORDS } from "./reason-words.ts";
import type { DoneReason } from "./event.ts";
import type { RunState, RunStatus } from "./state.ts";

/** Says how a run stands or ended. */
export function formatEnd({ status, reason, error }: ShownEnd): string {
  if (error) return error.message;
  if (reason !== undefined && reason !== "error") return wordsIn(END_WORDS, reason) ?? reason;
  return wordsIn(OPEN_WORDS, status) ?? "It failed.";
}

type ShownEnd = Pick<RunState, "status" | "reason" | "error">;

/** Says what an audit record tells; undefined for a record of no run. */
export function formatEntry(entry: AuditEntry): string | undefined {
  if (!Object.hasOwn(ACTION_WORDS, entry.action)) return entry.action;
  return ACTION_WORDS[entry.action]?.(entry);
}

/** Says how a term of an approval differs from the approval before. */
export function formatTermChange({ term, before, after }: TermChange): string {
  return `${term} was ${JSON.stringify(before)} and is ${JSON.stringify(after)}`;
}

/** Finds the words of a name; undefined for a name that this version does not know. */
function wordsIn<T>(words: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(words, name) ? words[name] : undefined;
}

/** Counts things: `1 call`, `2 calls`. */
export function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** Why a run ended, in words. The end `error` has the message of its own. */
export const END_WORDS: Readonly<Record<Exclude<DoneReason, "error">, string>> = {
  stop: "The model gave its answer.",
  length: "The answer reached the length limit.",
  context_window: "The conversation is too long for the model.",
  content_filter: "The provider's content filter stopped the answer.",
  refusal: "The model declined to answer.",
  step_limit: "The run used all of its steps.",
  cancelled: "Somebody cancelled it.",
};

/** How a run stands that has not ended, in words. */
const OPEN_WORDS: Readonly<Record<Extract<RunStatus, "running" | "waiting">, string>> = {
  running: "It goes on.",
  waiting: "It waits, for people or for the next attempt of a write.",
};

/** What a gate checks, as its refusal says it; docs/gates.md lists the gates. */
export const GATE_WORDS: ReadonlyMap<string, string> = new Map([
  ["lookup", "there is no such tool in the version that the run uses"],
  ["still_wanted", "the call was not wanted any more"],
  ["policy", "the policy does not allow the tool"],
  ["caller", "a rule of the policy does not let this caller use the tool"],
  ["data", "the policy does not let this data go there"],
  ["parse", "the arguments are not one whole JSON object within the limits"],
  ["arguments", "the arguments do not fit the schema of the contract"],
  ["rules", "a semantic rule of the contract does not hold"],
  ["authorise", "the caller lacks a scope, a delegation or the one connection"],
  ["argument_rules", "an argument rule of the policy does not hold"],
  ["data_flow", "what the arguments come from breaks a rule of the policy"],
  ["ceilings", "an amount is above a ceiling, or cannot be counted"],
  ["connection", "the connection is not there, or its secret would be seen"],
  ["state", "the target is not as the call assumes"],
  ["history", "the run repeats itself"],
  ["hooks", "a hook of the deployment vetoed the call"],
  ["question", "the person did not answer what the contract asks"],
  ["approval", "the required people have not approved the call as it would run"],
  ["budget", "a rate, a budget or a cap has no room for the call"],
  ["idempotency", "the operation is bound to another payload or key"],
  ["execute", "the tool failed, or did not answer in time"],
  ["output", "what the tool returned does not fit its contract"],
]);

type Words = (entry: AuditEntry) => string;

const who = ({ actorId }: AuditEntry): string => actorId ?? "a time limit";
const why = ({ reason }: AuditEntry): string => (reason === undefined ? "" : ` (${reason})`);
const decided = (entry: AuditEntry): string => `${entry.decision ?? "nothing"}${why(entry)}`;
const by =
  (did: string): Words =>
  (entry) =>
    `${who(entry)} ${did}${why(entry)}`;

/** What a record of the audit log tells, in words. Records of no run have none. */
const ACTION_WORDS: Readonly<Record<AuditAction, Words | undefined>> = {
  "run.started": (entry) =>
    `begun by ${who(entry)}` +
    (entry.subjectId === undefined ? "" : ` for ${entry.subjectId}`) +
    (entry.assistantId === undefined ? "" : `, as the assistant ${entry.assistantId}`) +
    (entry.assistantRevision === undefined ? "" : `, revision ${entry.assistantRevision}`),
  "run.cancelled": by("cancelled the run"),
  "run.ended": (entry) => `ended: ${decided(entry)}`,
  "model.changed": (entry) => `the model changed ${decided(entry)}`,
  "model.failed": ({ model = "", status, detail = "no words of the provider" }) =>
    `the model ${model} failed${status === undefined ? "" : `, HTTP ${status}`}: ${detail}`,
  "call.ended": (entry) => describeCallEnd(entry),
  "output.read": by("read the whole result"),
  "calls.refused": (entry) =>
    `${countOf(entry.count ?? 0, "more call")} like this refused${why(entry)}: ${gatesOf(entry)}`,
  "approval.requested": (entry) => `approval is asked for: ${decided(entry)}`,
  "approval.voted": (entry) =>
    `${who(entry)} voted ${decided(entry)}` +
    (entry.consentId === undefined ? "" : `, by the consent ${entry.consentId}`),
  "approval.refused": (entry) => `a vote of ${who(entry)} did not count: ${decided(entry)}`,
  "approval.edited": by("edited the arguments"),
  "approval.answered": by("answered the question"),
  "approval.closed": (entry) => `the approval closed: ${decided(entry)}`,
  "approval.consumed": () => "the approval was used",
  "consent.granted": (entry) => `${who(entry)} consented for later calls: ${decided(entry)}`,
  "consent.revoked": by("took the consent back"),
  "outcome.resolved": (entry) => `${who(entry)} reported the outcome: ${decided(entry)}`,
  "undo.started": by("began to undo it"),
  "undo.ended": (entry) => `the undo ended: ${decided(entry)}`,
  "verification.ended": (entry) => `the state after it was read: ${decided(entry)}`,
  "verification.reviewed": by("looked at the difference"),
  "escalation.opened": (entry) => `people must look at it: ${entry.escalation ?? decided(entry)}`,
  "escalation.taken": by("took the escalation"),
  "escalation.released": by("gave the escalation back"),
  "escalation.settled": by("settled the escalation"),
  "policy.changed": undefined,
  "assistant.stored": undefined,
  "assistant.removed": undefined,
  "connection.stored": undefined,
  "connection.removed": undefined,
  "provider.stored": undefined,
  "provider.removed": undefined,
  "embed_token.minted": undefined,
  "person.exported": undefined,
  "person.erased": undefined,
};

function describeCallEnd(entry: AuditEntry): string {
  const { outcome = "no outcome", durationMs, policyRevision } = entry;
  const took = durationMs === undefined ? "" : ` after ${durationMs} ms`;
  const under = policyRevision === undefined ? "" : ` under policy revision ${policyRevision}`;
  return `${outcome}${took}${under}: ${gatesOf(entry)}${meaningOf(entry)}`;
}

/** Says what the outcome of a failed call means, and its reason where that is one of ours. */
function meaningOf(entry: AuditEntry): string {
  const { outcome, reason } = entry;
  const means = outcome && wordsIn(OUTCOME_WORDS, outcome);
  if (means === undefined || outcome === "SUCCESS") return why(entry);
  const because = reason === undefined ? undefined : formatReason(reason);
  return `; ${means}${why(entry)}${because === undefined ? "" : `: ${because}`}`;
}

/** Says what the gates of a call came to. */
export function formatGates({ passed, refusedBy }: NonNullable<AuditEntry["gates"]>): string {
  if (refusedBy === undefined) return `passed ${countOf(passed.length, "gate")}`;
  if (refusedBy === "ledger") return "its operation belongs to another call, or is running";
  return `the gate ${refusedBy} ended it, because ${GATE_WORDS.get(refusedBy) ?? "it refused"}`;
}

function gatesOf({ gates }: AuditEntry): string {
  return gates ? formatGates(gates) : "no gate was asked";
}

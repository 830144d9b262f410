import type { AuditAction, AuditEntry } from "../audit/entry.ts";
import type { Say, TextValues } from "../text/fill-text.ts";
import { formatReason, OUTCOME_WORDS } from "./reason-words.ts";
import type { DoneReason } from "./event.ts";
import type { RunState, RunStatus } from "./state.ts";

/** Says how a run stands or ended. */
export function formatEnd({ status, reason, error }: ShownEnd, say: Say): string {
  if (error) return error.message;
  if (reason !== undefined && reason !== "error") return say(wordsIn(END_WORDS, reason) ?? reason);
  return say(wordsIn(OPEN_WORDS, status) ?? "It failed.");
}

type ShownEnd = Pick<RunState, "status" | "reason" | "error">;

/** Says what an audit record tells; undefined for a record of no run. */
export function formatEntry(entry: AuditEntry, say: Say): string | undefined {
  if (!Object.hasOwn(ACTION_WORDS, entry.action)) return entry.action;
  const words = ACTION_WORDS[entry.action];
  return typeof words === "string" ? say(words, valuesOf(entry, say)) : words?.(entry, say);
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

/** A text with the values of its record, or what makes one. */
type Words = string | ((entry: AuditEntry, say: Say) => string);

/** `who` acted, `what` was decided, and `why`. */
function valuesOf(entry: AuditEntry, say: Say): TextValues {
  const { actorId, consentId, decision } = entry;
  return {
    who: actorId ?? say("a time limit"),
    what: `${decision ?? say("nothing")}${whyOf(entry)}`,
    why: whyOf(entry),
    by: consentId === undefined ? "" : say(", by the consent {name}", { name: consentId }),
  };
}

function whyOf({ reason }: AuditEntry): string {
  return reason === undefined ? "" : ` (${reason})`;
}

/** What a record of the audit log tells, in words. Records of no run have none. */
const ACTION_WORDS: Readonly<Record<AuditAction, Words | undefined>> = {
  "run.started": describeStart,
  "run.cancelled": "{who} cancelled the run{why}",
  "run.ended": "ended: {what}",
  "model.changed": "the model changed {what}",
  "model.failed": describeModelFailure,
  "call.ended": describeCallEnd,
  "output.read": "{who} read the whole result{why}",
  "calls.refused": describeRefusals,
  "approval.requested": "approval is asked for: {what}",
  "approval.voted": "{who} voted {what}{by}",
  "approval.refused": "a vote of {who} did not count: {what}",
  "approval.edited": "{who} edited the arguments{why}",
  "approval.answered": "{who} answered the question{why}",
  "approval.closed": "the approval closed: {what}",
  "approval.consumed": "the approval was used",
  "consent.granted": "{who} consented for later calls: {what}",
  "consent.revoked": "{who} took the consent back{why}",
  "outcome.resolved": "{who} reported the outcome: {what}",
  "undo.started": "{who} began to undo it{why}",
  "undo.ended": "the undo ended: {what}",
  "verification.ended": "the state after it was read: {what}",
  "verification.reviewed": "{who} looked at the difference{why}",
  "escalation.opened": (entry, say) =>
    say("people must look at it: {what}", {
      what: entry.escalation ?? valuesOf(entry, say)["what"] ?? "",
    }),
  "escalation.taken": "{who} took the escalation{why}",
  "escalation.released": "{who} gave the escalation back{why}",
  "escalation.settled": "{who} settled the escalation{why}",
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

function describeStart(entry: AuditEntry, say: Say): string {
  const { subjectId, assistantId, assistantRevision: revision } = entry;
  return [
    say("begun by {who}", valuesOf(entry, say)),
    subjectId === undefined ? "" : say(" for {name}", { name: subjectId }),
    assistantId === undefined ? "" : say(", as the assistant {name}", { name: assistantId }),
    revision === undefined ? "" : say(", revision {revision}", { revision }),
  ].join("");
}

function describeModelFailure({ model = "", status, detail }: AuditEntry, say: Say): string {
  return say("the model {model} failed{status}: {detail}", {
    model,
    status: status === undefined ? "" : `, HTTP ${status}`,
    detail: detail ?? say("no words of the provider"),
  });
}

function describeRefusals(entry: AuditEntry, say: Say): string {
  const { count = 0 } = entry;
  const values = { count, why: whyOf(entry), gates: gatesOf(entry, say) };
  return count === 1
    ? say("1 more call like this refused{why}: {gates}", values)
    : say("{count} more calls like this refused{why}: {gates}", values);
}

function describeCallEnd(entry: AuditEntry, say: Say): string {
  const { outcome, durationMs: ms, policyRevision: revision } = entry;
  const took = ms === undefined ? "" : say(" after {ms} ms", { ms });
  const under =
    revision === undefined ? "" : say(" under policy revision {revision}", { revision });
  const gates = `${gatesOf(entry, say)}${meaningOf(entry, say)}`;
  return `${outcome ?? say("no outcome")}${took}${under}: ${gates}`;
}

/** Says what the outcome of a failed call means, and its reason where that is one of ours. */
function meaningOf(entry: AuditEntry, say: Say): string {
  const { outcome, reason } = entry;
  const means = outcome && wordsIn(OUTCOME_WORDS, outcome);
  if (means === undefined || outcome === "SUCCESS") return whyOf(entry);
  const because = reason === undefined ? undefined : formatReason(reason);
  return `; ${say(means)}${whyOf(entry)}${because === undefined ? "" : `: ${say(because)}`}`;
}

/** Says what the gates of a call came to. */
export function formatGates(
  { passed, refusedBy: gate }: NonNullable<AuditEntry["gates"]>,
  say: Say,
): string {
  if (gate === undefined) {
    const count = passed.length;
    return count === 1 ? say("passed 1 gate") : say("passed {count} gates", { count });
  }
  if (gate === "ledger") return say("its operation belongs to another call, or is running");
  const why = say(GATE_WORDS.get(gate) ?? "it refused");
  return say("the gate {gate} ended it, because {why}", { gate, why });
}

function gatesOf({ gates }: AuditEntry, say: Say): string {
  return gates ? formatGates(gates, say) : say("no gate was asked");
}

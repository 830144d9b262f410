import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import type { RunState, ToolCallSummary } from "../../src/protocol/run/state.ts";
import { toVisible } from "../../src/protocol/text/visible.ts";
import { ACTION_WORDS, countOf, END_WORDS, OPEN_WORDS, wordsIn } from "./words.ts";

/**
 * Explains a run in lines for a terminal: how it ended, then what happened to each call, in order.
 * `entries` are the audit records of the run, oldest first.
 * Threat: a model, a tool or a provider writes control characters that the terminal obeys.
 */
export function explainRun(state: RunState, entries: readonly AuditEntry[]): readonly string[] {
  const ofRun = entries.filter(({ invocationId }) => invocationId === undefined);
  return [
    ...block(headOf(state), [...describeRun(state), ...ofRun.flatMap(describeEntry)]),
    ...state.toolCalls.flatMap((call) => [
      "",
      ...block(headOfCall(call), describeCall(call, entries)),
    ]),
  ];
}

function block(head: string, lines: readonly string[]): readonly string[] {
  return [show(head), ...lines.map((line) => `  ${show(line)}`)];
}

function show(text: string): string {
  return toVisible(text).text;
}

function headOf({ runId, status, error }: RunState): string {
  return `${runId}: ${status}${error ? `, ${error.code}` : ""}`;
}

function headOfCall({
  invocationId,
  name,
  version,
  step,
  outcome,
  state,
}: ToolCallSummary): string {
  return `${invocationId} ${name}@${version}, step ${step}: ${outcome ?? state}`;
}

function describeRun(run: RunState): readonly string[] {
  const { model, steps, recoveries, usage, timestamps } = run;
  const tokens = `${usage.inputTokens} tokens in, ${usage.outputTokens} out`;
  const again = recoveries === 0 ? "" : `, went on after ${countOf(recoveries, "interruption")}`;
  const { createdAt, endedAt } = timestamps;
  const took =
    endedAt === undefined ? "" : `, took ${Date.parse(endedAt) - Date.parse(createdAt)} ms`;
  return [wordsOfEnd(run), `${model}, ${countOf(steps, "step")}, ${tokens}${took}${again}`];
}

function wordsOfEnd({ status, reason, error }: RunState): string {
  if (error) return error.message;
  if (reason !== undefined && reason !== "error") return wordsIn(END_WORDS, reason) ?? reason;
  return wordsIn(OPEN_WORDS, status) ?? "It failed.";
}

function describeCall(call: ToolCallSummary, entries: readonly AuditEntry[]): readonly string[] {
  const own = entries.filter(({ invocationId }) => invocationId === call.invocationId);
  const shown = own.find(({ input }) => input !== undefined)?.input;
  return [
    ...(shown ? [JSON.stringify(shown)] : []),
    ...(call.saga === undefined ? [] : [`a step of the saga ${call.saga}`]),
    ...(call.after ? [`proposed after text of others: ${JSON.stringify(call.after)}`] : []),
    ...(call.attempts > 1 ? [`${call.attempts} attempts`] : []),
    ...describeWaits(call),
    ...own.flatMap(describeEntry),
  ];
}

function describeWaits(call: ToolCallSummary): readonly string[] {
  const { approvalId, awaitsApprovalUntil, awaitsOutcomeUntil, nextAttemptAt } = call;
  return [
    ...(approvalId === undefined
      ? []
      : [`waits for the approval ${approvalId}, until ${awaitsApprovalUntil ?? "it expires"}`]),
    ...(awaitsOutcomeUntil === undefined
      ? []
      : [`may have happened: an operator reports the outcome, until ${awaitsOutcomeUntil}`]),
    ...(nextAttemptAt === undefined ? [] : [`its next attempt is at ${nextAttemptAt}`]),
  ];
}

function describeEntry(entry: AuditEntry): readonly string[] {
  if (!Object.hasOwn(ACTION_WORDS, entry.action)) return [`${entry.at} ${entry.action}`];
  const words = ACTION_WORDS[entry.action];
  return words ? [`${entry.at} ${words(entry)}`] : [];
}

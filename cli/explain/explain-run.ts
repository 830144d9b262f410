import type { TermChange } from "../../src/protocol/approval/terms.ts";
import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import { NO_USAGE, addUsage } from "../../src/protocol/model/usage.ts";
import type { RunTrace, TracedApproval, TracedCall } from "../../src/protocol/run/trace.ts";
import { countOf, formatEntry, formatEnd } from "../../src/protocol/run/words.ts";
import { fillText } from "../../src/protocol/text/fill-text.ts";
import { toVisible } from "../../src/protocol/text/visible.ts";
import type { ToldRun } from "./read-run.ts";

/**
 * Explains a run in lines for a terminal: how it ended, then what happened to each call, in order.
 * Threat: a model, a tool or a provider writes control characters that the terminal obeys.
 */
export function explainRun({ trace, entries }: ToldRun): readonly string[] {
  const ofRun = entries.filter(({ invocationId }) => invocationId === undefined);
  return [
    ...block(headOf(trace), [...describeRun(trace), ...ofRun.flatMap(describeEntry)]),
    ...trace.calls.flatMap((call) => [
      "",
      ...block(headOfCall(call), describeCall(call, { trace, entries })),
    ]),
  ];
}

function block(head: string, lines: readonly string[]): readonly string[] {
  return [show(head), ...lines.map((line) => `  ${show(line)}`)];
}

function show(text: string): string {
  return toVisible(text).text;
}

function headOf({ run: { runId, status, error } }: RunTrace): string {
  return `${runId}: ${status}${error ? `, ${error.code}` : ""}`;
}

function headOfCall({ invocationId, name, version, step, outcome, state }: TracedCall): string {
  return `${invocationId} ${name}@${version}, step ${step}: ${outcome ?? state}`;
}

function describeRun({ run, steps, pins, notices }: RunTrace): readonly string[] {
  const { model, recoveries, timestamps } = run;
  // The state counts finished steps alone, and a run waits in the middle of one.
  const usage = steps.reduce((sum, step) => addUsage(sum, step.usage ?? NO_USAGE), NO_USAGE);
  const tokens = `${usage.inputTokens} tokens in, ${usage.outputTokens} out`;
  const again = recoveries === 0 ? "" : `, went on after ${countOf(recoveries, "interruption")}`;
  const { createdAt, endedAt } = timestamps;
  const took =
    endedAt === undefined ? "" : `, took ${Date.parse(endedAt) - Date.parse(createdAt)} ms`;
  return [
    formatEnd(run, fillText),
    `${model}, ${countOf(steps.length, "step")}, ${tokens}${took}${again}`,
    ...describePins(pins),
    ...(notices.arePending ? ["The audit log does not have all of its records yet."] : []),
  ];
}

function describePins({
  promptHash,
  wire,
  wrapperVersion,
  policy,
}: RunTrace["pins"]): readonly string[] {
  const pins = [
    ...(promptHash === undefined ? [] : [`prompt ${promptHash}`]),
    ...(wire === undefined ? [] : [`wire ${wire}`]),
    ...(wrapperVersion === undefined ? [] : [`wrapper ${wrapperVersion}`]),
    policy ? `policy revision ${policy.revision}` : "no policy",
  ];
  return [pins.join(", ")];
}

function describeCall(call: TracedCall, { trace, entries }: ToldRun): readonly string[] {
  const isOwn = (one: { readonly invocationId?: string }): boolean =>
    one.invocationId === call.invocationId;
  const own = entries.filter(isOwn);
  const shown = own.find(({ input }) => input !== undefined)?.input;
  return [
    ...(shown ? [JSON.stringify(shown)] : []),
    ...(call.saga === undefined ? [] : [`a step of the saga ${call.saga}`]),
    ...(call.after ? [`proposed after text of others: ${JSON.stringify(call.after)}`] : []),
    ...(call.attempts > 1 ? [`${call.attempts} attempts`] : []),
    ...describeWaits(call),
    ...trace.approvals.filter(isOwn).flatMap(describeTerms),
    ...own.flatMap(describeEntry),
  ];
}

function describeTerms({ approvalId, changedTerms = [] }: TracedApproval): readonly string[] {
  if (changedTerms.length === 0) return [];
  return [`${approvalId} under other terms: ${changedTerms.map(formatTermChange).join(", ")}`];
}

function formatTermChange({ term, before, after }: TermChange): string {
  return `${term} was ${JSON.stringify(before)} and is ${JSON.stringify(after)}`;
}

function describeWaits(call: TracedCall): readonly string[] {
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
  const words = formatEntry(entry, fillText);
  return words === undefined ? [] : [`${entry.at} ${words}`];
}

import { explainRun } from "../../../cli/explain/explain-run.ts";
import { readRun } from "../../../cli/explain/read-run.ts";
import { createClient } from "../../../cli/push/deployment-client.ts";
import type { FollowedRun } from "../client/follow-run.ts";
import type { LedgerRow, Target } from "../client/target.ts";
import { toolCallIdOf } from "../world/scenario.ts";

/** Explains an ended run to somebody who saw nothing of it. Returns what the words leave out. */
export async function explainEnded(target: Target, run: FollowedRun): Promise<readonly string[]> {
  const { runId } = run.state;
  try {
    const send = createClient({ environment: "chaos", ...target });
    const lines = explainRun(await readRun(send, runId));
    return [...findMissing(run, lines)].map((missing) => `${runId}: ${missing}`);
  } catch (error) {
    return [`${runId}: ${String(error)}`];
  }
}

function* findMissing({ state, script, approver }: FollowedRun, lines: readonly string[]) {
  const [head = "", why = ""] = lines;
  const { status, error } = state;
  if (!head.endsWith(error ? `${status}, ${error.code}` : status)) yield `not its end: ${head}`;
  if (!/\w+ \w+ \w+/.test(why)) yield `not why it ended: ${why}`;
  for (const row of state.toolCalls) yield* findMissingOf(row, lines);
  const proposed = script.steps.flatMap(({ calls }, step) =>
    calls.map(({ operation }, index) => [toolCallIdOf(step, index), operation] as const),
  );
  for (const [toolCallId, operation] of proposed) {
    if (!approver.rejected.has(operation)) continue;
    const row = state.toolCalls.find((one) => one.toolCallId === toolCallId);
    const told = blockOf(row, lines).join("\n");
    if (!told.includes("voted reject")) yield `not who rejected ${row?.invocationId}: ${told}`;
  }
}

/** A gate with what it checks, or a reason of the runtime in words. */
const DECIDED = /ended it, because \w+ \w+|\(\w+\): \w+ \w+/;

/** What the words leave out of one call: what became of it, and what decided that. */
function* findMissingOf(row: LedgerRow, lines: readonly string[]) {
  const { invocationId, name, outcome = row.state } = row;
  const told = blockOf(row, lines);
  const [head = "", ...rest] = told;
  if (!head.startsWith(`${invocationId} ${name}@`) || !head.endsWith(`: ${outcome}`))
    yield `not what became of ${invocationId}, ${outcome}: ${head}`;
  const isFailed = outcome !== "SUCCESS";
  if (isFailed && !DECIDED.test(rest.join("\n")))
    yield `not what decided ${invocationId}: ${told.join("\n")}`;
}

/** The lines about a call. */
function blockOf(row: LedgerRow | undefined, lines: readonly string[]): readonly string[] {
  const from = lines.findIndex((line) => line.startsWith(`${row?.invocationId} `));
  if (from < 0) return [];
  const length = lines.slice(from).indexOf("");
  return lines.slice(from, length < 0 ? undefined : from + length);
}

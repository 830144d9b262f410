import type { FollowedRun } from "../client/follow-run.ts";
import type { RunPage } from "../client/run-pages.ts";
import type { StreamedCall } from "../client/run-stream.ts";
import type { LedgerRow, SeenState } from "../client/target.ts";
import type { Report } from "../people/operator.ts";
import type { EffectEntry } from "../world/effect-book.ts";
import { toolCallIdOf } from "../world/scenario.ts";

/** What the proof knows of an ended run without its trace. */
export interface KnownRun {
  readonly run: FollowedRun;
  /** What the client of the run was told. */
  readonly streamed: readonly StreamedCall[];
  /** What the world counted for the run. */
  readonly entries: readonly EffectEntry[];
  /** What the operator reported. */
  readonly reports: readonly Report[];
}

/** The person who starts each run, and who reports outcomes. */
const OPERATOR = "user:chaos";

/**
 * Tells what a reader of the page does not learn about a run: how it ended and why, what became of
 * each call, which gate decided that, and who voted, answered or reported.
 */
export function* findUntold(known: KnownRun, page: RunPage): Generator<string> {
  yield* findUntoldEnd(known.run.state, page);
  if (!page.text.includes(`begun by ${OPERATOR}`)) yield "not who began it";
  for (const row of known.run.state.toolCalls) yield* findUntoldOfCall(known, row, page);
}

/** What a reader has to learn about each end that a chaos run comes to. */
const END_WORDS: Readonly<Record<string, RegExp>> = {
  completed: /model gave its answer/,
  budget_exhausted: /used up its budget: \w+/,
  budget_unavailable: /budgets cannot be read/,
  internal_error: /failed inside Interlock/,
  interrupted: /interrupted too often/,
  outcome_unknown: /outcome of a tool call is unknown, and no operator resolved it/,
  policy_unavailable: /policy of this run cannot be read/,
  step_limit: /used all of its steps/,
  tools_unavailable: /tools of this run could not be read/,
  upstream_status: /provider refused the request. It answered with HTTP \d+/,
  upstream_truncated: /answer ended before it was complete/,
  upstream_unreachable: /provider could not be reached/,
};

function* findUntoldEnd({ status, error }: SeenState, { title, text }: RunPage): Generator<string> {
  const end = error?.code ?? status;
  const state = error ? `${status}, ${error.code}` : status;
  if (!text.toLowerCase().includes(`state\n${state}`)) yield `not that it is ${state}`;
  if (!END_WORDS[end]?.test(title)) yield `not why it is ${state}`;
}

function* findUntoldOfCall(known: KnownRun, row: LedgerRow, page: RunPage): Generator<string> {
  const { toolCallId, invocationId = "", name } = row;
  const told = page.calls.find((text) => hasLine(text, invocationId)) ?? "";
  const streamed = known.streamed.find((one) => one.toolCallId === toolCallId);
  const [outcome = ""] = streamed?.outcomes ?? [];
  const about = `of ${invocationId}`;
  if (!told.includes(name)) yield `not the tool ${about}, ${name}`;
  if (!hasLine(told, outcome)) yield `not the end ${about}, ${outcome}`;
  const [code] = streamed?.codes ?? [];
  const decided = outcome === "SUCCESS" ? undefined : wordsOfDecision(code);
  if (decided && !decided.test(told)) yield `not what decided ${about}, ${code}: ${decided.source}`;
  for (const words of [...wordsOfEffect(known, row), ...wordsOfPeople(known, row)]) {
    if (!told.includes(words)) yield `not ${about}: ${words}`;
  }
}

/** What each gate that ends calls here has to say about itself. */
const GATES = {
  approval: "the gate approval ended it, because .*have not approved",
  budget: "the gate budget ended it, because .*no room",
  execute: "the gate execute ended it, because the tool failed",
  question: "the gate question ended it, because the person did not answer",
  still_wanted: "the gate still_wanted ended it, because the call was not wanted",
} as const;

/** The gates that may end a call with a code; those that reads of the tenant's object have. */
const GATES_OF: Readonly<Record<string, readonly (keyof typeof GATES)[]>> = {
  approval_expired: ["approval", "question"],
  approval_rejected: ["approval", "question"],
  approval_withdrawn: ["approval", "question"],
  approvals_unavailable: ["approval", "question", "budget"],
  budget_exhausted: ["budget"],
  busy: ["execute"],
  cancelled: ["execute", "still_wanted"],
  ledger_unavailable: ["budget"],
  policy_unavailable: ["approval", "question", "budget"],
  raise_refused: ["budget"],
  rate_limited: ["budget"],
  server_error: ["execute"],
  timeout: ["execute"],
  tool_failed: ["execute"],
  unreachable: ["execute"],
  wrong_voice: ["execute"],
};

/** What decided a call that no gate ended. */
const DECIDED_LATER: Readonly<Record<string, RegExp>> = {
  interrupted: /the run was interrupted while the tool ran/,
  outcome_unknown: /a time limit reported the outcome: expired[^]*no operator said in time/,
};

/** The words of what decided a call: those of a gate, of an interruption, of a missing report. */
function wordsOfDecision(code = ""): RegExp {
  const later = DECIDED_LATER[code];
  if (later) return later;
  const gates = GATES_OF[code] ?? Object.keys(GATES).filter(isGate);
  return new RegExp(gates.map((gate) => GATES[gate]).join("|"), "i");
}

function isGate(name: string): name is keyof typeof GATES {
  return Object.hasOwn(GATES, name);
}

/** What the world counted, in the words of the page. A read has no effect that the world counts. */
function wordsOfEffect({ run, entries }: KnownRun, row: LedgerRow): readonly string[] {
  const operation = operationOf(run, row);
  const own = entries.filter((entry) => entry.operation === operation);
  if (operation === undefined || own.some(({ effectClass }) => effectClass === "read_only")) {
    return [];
  }
  if (row.state === "EXPIRED") return ["happened once, or not at all: nobody knows"];
  const hasHappened = own.some(({ effects }) => effects > 0);
  return [hasHappened ? "The effect happened, once." : "The effect did not happen."];
}

/** Who decided something about a call, and what. */
function wordsOfPeople({ run, reports }: KnownRun, row: LedgerRow): readonly string[] {
  const operation = operationOf(run, row);
  const votes = run.approver.accepted.filter((vote) => vote.operation === operation);
  const reported = reports.filter(({ invocationId }) => invocationId === row.invocationId);
  return [
    ...votes.map(({ actorId, decision }) =>
      decision === "answer" ? `${actorId} answered the question` : `${actorId} voted ${decision}`,
    ),
    ...reported.map(({ outcome }) => `${OPERATOR} reported the outcome: ${outcome}`),
  ];
}

/** Finds which operation of the script a call is. */
function operationOf({ script }: FollowedRun, { toolCallId }: LedgerRow): number | undefined {
  const calls = script.steps.flatMap((step, number) =>
    step.calls.map(({ operation }, index) => ({ operation, id: toolCallIdOf(number, index) })),
  );
  return calls.find(({ id }) => id === toolCallId)?.operation;
}

function hasLine(text: string, line: string): boolean {
  return text.split("\n").some((one) => one.trim() === line);
}

import { expect, test } from "vitest";
import type { EffectEntry } from "../../scripts/chaos/world/effect-book.ts";
import type { FollowedRun } from "../../scripts/chaos/client/follow-run.ts";
import { fingerprintKey } from "../../scripts/chaos/host/key-fingerprint.ts";
import type { LedgerRow } from "../../scripts/chaos/client/target.ts";
import { verifyRun, type Evidence } from "../../scripts/chaos/verify/verify-run.ts";
import type { AiEvent } from "../../src/protocol/run/event.ts";
import type { RunId, ToolCallId } from "../../src/protocol/identity/ids.ts";
import { observeSuccess } from "../../src/protocol/outcome/observation.ts";
import { encodeEvent } from "../../src/wire/assistant-transport/encode-event.ts";

const toolCallId = "call_0_0" as ToolCallId;
const usage = { inputTokens: 1, outputTokens: 2 };
const observation = observeSuccess(
  { name: "chaos__post", version: "1.0.0", toolCallId, traceId: "r", startedAtMs: 0, endedAtMs: 5 },
  { operation: 0 },
);
const EVENTS: readonly AiEvent[] = [
  { type: "run_started", runId: "run_1" as RunId, model: "chaos" },
  { type: "text_started", part: 0 },
  { type: "text_delta", part: 0, text: "said" },
  { type: "text_finished", part: 0 },
  { type: "tool_call_proposed", part: 1, toolCallId, toolName: "chaos__post" },
  { type: "tool_call_result", part: 1, toolCallId, observation },
  { type: "done", reason: "stop", usage },
];
const KEY = "sha256:1";
const ENTRY: EffectEntry = {
  key: KEY,
  runId: "run_1",
  operation: 0,
  effectClass: "unreconciled",
  requests: 1,
  effects: 1,
  pending: 0,
};
const ROW: LedgerRow = {
  toolCallId,
  name: "chaos__post",
  invocationId: "inv_1",
  state: "COMPLETED",
  idempotencyKeyHash: await fingerprintKey("run_1", KEY),
  outcome: "SUCCESS",
};

function streamOf(events: readonly AiEvent[]): string {
  return events.map((event, index) => encodeEvent(event, { epoch: 0, seq: index + 1 })).join("");
}

interface Change {
  readonly events?: readonly AiEvent[];
  readonly stream?: string;
  readonly uncut?: string;
  readonly status?: string;
  readonly error?: string;
  readonly rows?: readonly LedgerRow[];
  readonly entries?: readonly EffectEntry[];
  readonly approved?: readonly number[];
  readonly consents?: number;
  readonly problems?: readonly string[];
}

/** A correct run with the changes of a test. */
function evidence(change: Change): Evidence {
  const call = { effectClass: "unreconciled", operation: 0, fault: "none" } as const;
  const stream = change.stream ?? streamOf(change.events ?? EVENTS);
  const run: FollowedRun = {
    script: {
      id: "s",
      steps: [
        { text: ["said"], calls: [call] },
        { text: [], calls: [] },
      ],
      crashes: [],
    },
    state: {
      runId: "run_1",
      status: change.status ?? "completed",
      ...(change.error !== undefined && { error: { code: change.error } }),
      toolCalls: change.rows ?? [ROW],
    },
    stream,
    uncut: change.uncut ?? stream,
    approver: {
      accepted: [],
      approved: new Set(change.approved),
      rejected: new Set(),
      consents: change.consents ?? 0,
      problems: change.problems ?? [],
    },
  };
  return { run, entries: change.entries ?? [ENTRY], mustSucceed: true };
}

const without = (type: AiEvent["type"]): readonly AiEvent[] =>
  EVENTS.filter((event) => event.type !== type);
const twice = (type: AiEvent["type"]): readonly AiEvent[] =>
  EVENTS.flatMap((event) => (event.type === type ? [event, event] : [event]));

test("finds nothing in a correct run", async () => {
  expect(await verifyRun(evidence({}))).toEqual([]);
});

test("ignores withdrawn text", async () => {
  const half: readonly AiEvent[] = [
    { type: "text_started", part: 7 },
    { type: "text_delta", part: 7, text: "sa" },
  ];
  const text = streamOf([...half, ...EVENTS]);
  expect(await verifyRun(evidence({ stream: text }))).not.toEqual([]);
  const withdrawal = `data: {"path":[],"type":"data","data":[{"type":"withdrawn","parts":[7]}]}\nid: 0-3\n\n`;
  const later = EVENTS.map((event, index) => encodeEvent(event, { epoch: 1, seq: index + 3 }));
  const stream = `${streamOf(half)}${withdrawal}${later.join("")}`;
  expect(await verifyRun(evidence({ stream }))).toEqual([]);
});

test("finds nothing in a call that ran after its approvals", async () => {
  const entries = [{ ...ENTRY, effectClass: "approved" as const }];
  expect(await verifyRun(evidence({ entries, approved: [0] }))).toEqual([]);
});

test("finds nothing in a call that an earlier consent answered", async () => {
  const entries = [{ ...ENTRY, effectClass: "asked" as const, operation: 1 }];
  expect(await verifyRun(evidence({ entries, consents: 1 }))).toEqual([]);
});

test.each<[string, Change]>([
  ["an effect that happened twice under one key", { entries: [{ ...ENTRY, effects: 2 }] }],
  [
    "an operation that had its effect under two keys",
    {
      entries: [ENTRY, { ...ENTRY, key: "sha256:2" }],
      rows: [ROW, { ...ROW, idempotencyKeyHash: "sha256:2" }],
    },
  ],
  ["a key that no row of the ledger has", { entries: [ENTRY, { ...ENTRY, key: "sha256:2" }] }],
  ["a completed row without its effect", { entries: [] }],
  ["a failed row with an effect", { rows: [{ ...ROW, state: "FAILED_FINAL" }] }],
  ["a row that never ended", { rows: [{ ...ROW, state: "PENDING" }] }],
  ["a row that still awaits an answer", { rows: [{ ...ROW, awaitsOutcomeUntil: "later" }] }],
  ["a call that the ledger lacks", { rows: [], entries: [] }],
  ["an outcome that the ledger tells otherwise", { rows: [{ ...ROW, outcome: "TIMEOUT" }] }],
  ["a call without a result", { events: without("tool_call_result") }],
  ["a call with two results", { events: twice("tool_call_result") }],
  ["a stream without done", { events: without("done") }],
  ["a stream with done twice", { events: twice("done") }],
  ["a text that is left open", { events: without("text_finished") }],
  ["a text that is lost", { events: without("text_delta") }],
  ["a text that is doubled", { events: twice("text_delta") }],
  ["ids that do not ascend", { stream: streamOf(EVENTS).replace("id: 0-2\n", "id: 0-9\n") }],
  ["a replay that differs", { uncut: streamOf(without("text_delta")) }],
  ["a call that ran without its approvals", { entries: [{ ...ENTRY, effectClass: "approved" }] }],
  ["a call that ran without its answer", { entries: [{ ...ENTRY, effectClass: "asked" }] }],
  [
    "a call that ran without a consent",
    { entries: [{ ...ENTRY, effectClass: "asked", operation: 1 }] },
  ],
  ["an approver who got a wrong answer", { problems: ["ann approves, answered 409"] }],
  ["a run that has not ended", { status: "running" }],
  ["a run that failed without need", { status: "failed", error: "interrupted" }],
  ["an unknown outcome of which no row tells", { status: "failed", error: "outcome_unknown" }],
])("finds %s", async (_name, change) => {
  expect(await verifyRun(evidence(change))).not.toEqual([]);
});

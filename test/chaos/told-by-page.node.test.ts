import { expect, test } from "vitest";
import type { RunPage } from "../../scripts/chaos/client/run-pages.ts";
import { findUntold, type KnownRun } from "../../scripts/chaos/verify/told-by-page.ts";

const SENT = `chaos__send 1.0.0
PERMISSION_DENIED
The effect did not happen.
Call
inv_1
The gate approval ended it, because the required people have not approved the call as it would run.
10:00 user:ann voted approve
10:01 user:bob voted reject`;
const POSTED = `chaos__post 1.0.0
UNKNOWN_ERROR
The effect happened once, or not at all: nobody knows.
Call
inv_2
The gate execute ended it, because the tool failed, or did not answer in time.`;
const PAID = `chaos__pay 1.0.0
SUCCESS
The effect happened, once.
Call
inv_3
10:02 user:chaos reported the outcome: committed`;
const WHY = "The outcome of a tool call is unknown, and no operator resolved it in time.";

const call = (effectClass: string, operation: number) => ({ effectClass, operation });
const row = (index: number, name: string, state: string) => ({
  toolCallId: `call_0_${index}`,
  invocationId: `inv_${index + 1}`,
  name,
  state,
});
const streamed = (index: number, outcome: string, ...codes: string[]) => ({
  toolCallId: `call_0_${index}`,
  outcomes: [outcome],
  codes,
});
const vote = (actorId: string, decision: string) => ({ operation: 0, actorId, decision });

/** A run of three calls: one was rejected, one nobody knows, one an operator reported. */
const KNOWN = {
  run: {
    script: { steps: [{ calls: [call("approved", 0), call("unreconciled", 1), call("x", 2)] }] },
    state: {
      status: "failed",
      error: { code: "outcome_unknown" },
      toolCalls: [
        row(0, "chaos__send", "FAILED_FINAL"),
        row(1, "chaos__post", "EXPIRED"),
        row(2, "chaos__pay", "COMPLETED"),
      ],
    },
    approver: { accepted: [vote("user:ann", "approve"), vote("user:bob", "reject")] },
  },
  streamed: [
    streamed(0, "PERMISSION_DENIED", "approval_rejected"),
    streamed(1, "UNKNOWN_ERROR", "server_error"),
    streamed(2, "SUCCESS"),
  ],
  entries: [{ operation: 2, effects: 1, effectClass: "reconciled" }],
  reports: [{ runId: "run_1", invocationId: "inv_3", outcome: "committed" }],
} as unknown as KnownRun;

function untoldWithout(text: string, instead = ""): readonly string[] {
  const calls = [SENT, POSTED, PAID].map((told) => told.replace(text, instead));
  const head = `State\nFailed, outcome_unknown\nbegun by user:chaos`.replace(text, instead);
  const page: RunPage = {
    title: WHY.replace(text, instead),
    text: [head, ...calls].join("\n"),
    calls,
  };
  return [...findUntold(KNOWN, page)];
}

test("a page that tells what happened, why and by whom leaves nothing out", () => {
  expect(untoldWithout("nothing of it")).toEqual([]);
});

test.each([
  ["how it ended", "Failed, outcome_unknown", "Completed"],
  ["why it ended", WHY, "It failed."],
  ["who began it", "begun by user:chaos", ""],
  ["a call", "inv_2", "inv_9"],
  ["the end of a call", "PERMISSION_DENIED", "SUCCESS"],
  ["the gate that ended a call", "The gate execute ended it", "It ended"],
  ["what a gate means", "because the required people have not approved", "because it refused"],
  ["who approved", "user:ann voted approve", ""],
  ["who rejected", "user:bob voted reject", "somebody voted reject"],
  ["that nobody knows an outcome", "or not at all: nobody knows", ""],
  ["what the world counted", "The effect happened, once.", "The effect did not happen."],
  ["who reported an outcome", "user:chaos reported the outcome: committed", ""],
])("a page that does not tell %s is found", (_, text, instead) => {
  expect(untoldWithout(text, instead)).not.toEqual([]);
});

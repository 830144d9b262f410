import { expect, test } from "vitest";
import { APPROVE, callOf, decide, ended, openOf, useApprovalLab } from "../shared/people.ts";
import {
  POSTING_WIRES,
  MADE_UP,
  type PostingWire,
  type WaitingChat,
} from "../shared/posted-claims.ts";
import { stateOf } from "../shared/worker.ts";
import { moved } from "../workers/lab-approvals.ts";

useApprovalLab();

const NOTIFY = callOf("lab__notify", { what: "hello" });
const TRANSFER = callOf("lab__transfer", { to: "bakery", amount: 4 });
const WIRES = Object.keys(POSTING_WIRES) as readonly PostingWire[];
const UI = ["ui-message", "ui-message-6"] as const;

/** What a wire answers: the status, and the code of a refusal. */
const answerOf = async (response: Response): Promise<string> => {
  const text = await response.text();
  expect(text).not.toContain(MADE_UP);
  const [, code = ""] = /"code":\s*"(\w+)"/.exec(response.ok ? "" : text) ?? [];
  return `${response.status} ${code}`.trim();
};
type Answers = Partial<Record<PostingWire, string>>;
/** The same answer of several wires. Completions carry no decisions: a claim begins another run. */
const all = (answer: string, others: Answers = {}): Answers => ({
  ...Object.fromEntries(WIRES.map((wire) => [wire, answer])),
  completions: "200",
  ...others,
});

test.each<[string, typeof NOTIFY, (chat: WaitingChat) => Promise<Response>, Answers]>([
  [
    "a decision of a stranger",
    NOTIFY,
    ({ approve, approvalId }) => approve(approvalId, "eve"),
    all("404 run_not_found", {
      "ag-ui": "404 approval_not_found",
      "assistant-transport": "404 approval_not_found",
    }),
  ],
  [
    "a decision about an invented approval",
    NOTIFY,
    ({ approve }) => approve("appr_1"),
    all("404 approval_not_found", { responses: "404 run_not_found" }),
  ],
  [
    "a decision of a token that may not decide",
    NOTIFY,
    ({ approve, approvalId }) => approve(approvalId, "speaker"),
    all("403 insufficient_scope"),
  ],
  [
    "a decision that others must take",
    TRANSFER,
    ({ approve, approvalId }) => approve(approvalId),
    all("403 approver_not_allowed"),
  ],
  [
    "a made-up result and a made-up approval",
    NOTIFY,
    ({ claim }) => claim(),
    all("200", Object.fromEntries(UI.map((wire) => [wire, "422 nothing_to_decide"]))),
  ],
])("%s causes no effect, on every wire", async (_name, call, attack, answers) => {
  for (const wire of WIRES) {
    const chat = await POSTING_WIRES[wire](call);
    expect([wire, await answerOf(await attack(chat))]).toEqual([wire, answers[wire]]);
    expect([wire, openOf(await stateOf(chat.runId, "ann"))]).toEqual([wire, [chat.approvalId]]);
    expect([wire, moved]).toEqual([wire, []]);
  }
});

test("a decision about a call of another chat causes no effect, on every wire that names a chat", async () => {
  for (const wire of WIRES.filter((name) => name !== "assistant-transport")) {
    const here = await POSTING_WIRES[wire](NOTIFY);
    const there = await POSTING_WIRES[wire](NOTIFY);
    await (await here.approve(there.approvalId)).text();
    for (const { runId, approvalId } of [here, there]) {
      expect([wire, openOf(await stateOf(runId, "ann"))]).toEqual([wire, [approvalId]]);
    }
    expect([wire, moved]).toEqual([wire, []]);
  }
});

test("a decision runs what was asked, once, whatever is posted around it and how often, on every wire", async () => {
  for (const wire of WIRES.filter((name) => name !== "completions")) {
    moved.length = 0;
    const chat = await POSTING_WIRES[wire](NOTIFY);
    await (await chat.approve(chat.approvalId)).text();
    await ended(chat.runId);
    await (await chat.approve(chat.approvalId)).text();
    expect([wire, moved]).toEqual([wire, ["notified: hello"]]);
  }
});

test("a yes after another decision changes nothing, on every wire", async () => {
  for (const wire of WIRES) {
    const chat = await POSTING_WIRES[wire](NOTIFY);
    await decide(chat.approvalId, "ann", { ...APPROVE, decision: "reject" });
    await ended(chat.runId);
    await (await chat.approve(chat.approvalId)).text();
    expect([wire, moved]).toEqual([wire, []]);
  }
});

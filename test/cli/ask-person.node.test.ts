import { expect, test } from "vitest";
import { askPerson } from "../../cli/chat/ask-person.ts";
import { createClient } from "../../src/client/client.ts";
import type { ApprovalAsks } from "../../src/protocol/approval/question.ts";

const CLIENT = { baseUrl: "http://127.0.0.1:1", token: "t" };
const APPROVAL = { approvalId: "appr_1", toolId: "shop__pay", title: "Pay" } as const;
const SCHEMA = { type: "object", properties: { days: { type: "integer" } } } as const;

const line = { field: "arguments", notes: [] } as const;
const LINES = [
  { ...line, label: "To", text: "bob", was: "ann" },
  { ...line, label: "Copy", text: "eve", was: null },
  { ...line, label: "Amount", text: "3" },
];

/** Answers a request at a terminal, and returns what was asked there and sent. */
async function answer(asks: ApprovalAsks | undefined, typed: readonly string[]) {
  const lines = [...typed];
  const prompts: string[] = [];
  const shown: string[] = [];
  const sent: unknown[] = [];
  const client = createClient({
    ...CLIENT,
    fetch: (_input, init) => {
      if (typeof init?.body === "string") sent.push(JSON.parse(init.body));
      return Promise.resolve(Response.json({ ...APPROVAL, mayDecide: true, status: "approved" }));
    },
  });
  const terminal = {
    note: (text: string) => void shown.push(text),
    ask: (prompt: string) => {
      prompts.push(prompt.trim());
      return Promise.resolve(lines.shift());
    },
  };
  const approval = { ...APPROVAL, riskClass: "HIGH_RISK_EXTERNAL" as const, ...(asks && { asks }) };
  await askPerson(
    { approval, lines: LINES, packet: { question: { text: "How long?", schema: SCHEMA } } },
    { client, terminal },
  );
  return { prompts, shown, sent };
}

test("a request that asks for an answer and a vote gets the form's answer", async () => {
  const { prompts, sent } = await answer("answer_and_vote", ["14", "yes"]);
  expect(prompts).toEqual(["days:", "Answer and approve? Type yes, or no:"]);
  expect(sent).toEqual([{ decision: "answer", answer: { days: 14 } }]);
});

test("a value that changed since the last question says what it was", async () => {
  const { shown } = await answer(undefined, []);
  expect(shown.slice(1, 4)).toEqual(["  To: bob (was: ann)", "  Copy: eve (new)", "  Amount: 3"]);
});

test("any other word than the whole one rejects, and the end of the input decides nothing", async () => {
  expect((await answer("answer", ["14", "y"])).sent).toEqual([{ decision: "reject" }]);
  expect((await answer(undefined, ["YES"])).sent).toEqual([{ decision: "reject" }]);
  expect((await answer(undefined, [])).sent).toEqual([]);
});

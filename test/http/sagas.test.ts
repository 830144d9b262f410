import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  APPROVE,
  askFor,
  callOf,
  changeGuildPolicy,
  decide,
  ended,
  openOf,
  REJECT,
  viewOf,
} from "../shared/people.ts";
import { cancel, crash, rowsOf, transcriptOf, untilState } from "../shared/run-object.ts";
import { releaseUrl } from "../fakes/scripted-model.ts";
import { crashes } from "../workers/lab-crashes.ts";
import { chat, chunksOf, govern, runIdOf, seedPolicies, send } from "../shared/worker.ts";
import { ANY_FLOW } from "../workers/lab-approvals.ts";
import { faults, journey, JOURNEY_TOOLS } from "../workers/lab-sagas.ts";
import { replayEachRun } from "../shared/replayed-runs.ts";

replayEachRun();

const SAGA = "lab__book_journey";

beforeAll(seedPolicies);
beforeEach(async () => {
  journey.length = 0;
  faults.clear();
  await govern({ ...ANY_FLOW, allowedTools: JOURNEY_TOOLS });
});

function start(where: string, tool = SAGA): Promise<Response> {
  const args = JSON.stringify({ where, pin: "4831" });
  return chat([{ calls: [{ id: "call_1", name: tool, args }] }, { text: ["done"] }], "bendable");
}

interface Told {
  readonly taxonomy: string;
  readonly data: unknown;
  readonly codes: readonly string[];
  readonly calls: readonly (readonly [name: string, state: string])[];
  readonly runId: string;
}

/** Runs a saga to its end, and reads what the model was told and what the run recorded. */
async function book(where: string): Promise<Told> {
  const response = await start(where);
  const runId = runIdOf(response);
  await response.text();
  return tell(runId);
}

async function tell(runId: string): Promise<Told> {
  const { toolCalls } = await ended(runId, "bendable");
  const messages = await transcriptOf(runId, "bendable");
  const results = messages.flatMap((message) => (message.role === "tool" ? [message.result] : []));
  expect(results).toHaveLength(1);
  const { status, result_payload: payload } = results[0] as never as {
    status: { taxonomy_class: string };
    result_payload: { data: unknown; errors: { code: string }[] };
  };
  return {
    runId,
    taxonomy: status.taxonomy_class,
    data: payload.data,
    codes: payload.errors.map(({ code }) => code),
    calls: toolCalls.map(({ name, state }) => [name, state]),
  };
}

test("a saga makes its steps in order, each an invocation of its own, and a reader sees them", async () => {
  const response = await start("Rome");
  const runId = runIdOf(response);
  const chunks = await chunksOf(response);
  const told = await tell(runId);
  expect(journey).toEqual(["book_room Rome", "book_train Rome", "pay Rome", "mail Rome"]);
  expect(told).toMatchObject({
    taxonomy: "SUCCESS",
    data: { ids: ["book_room-Rome", "book_train-Rome", "pay-Rome"] },
    calls: [
      [SAGA, "COMPLETED"],
      ["lab__book_room", "COMPLETED"],
      ["lab__book_train", "COMPLETED"],
      ["lab__pay_journey", "COMPLETED"],
      ["lab__mail_tickets", "COMPLETED"],
    ],
  });
  const shown = chunks.filter(({ type }) => type === "result");
  expect(shown).toHaveLength(5);
  const stream = await (await send(`/v1/runs/${runId}/events`, { caller: "bendable" })).text();
  expect(stream).not.toContain("secret-");
});

test("a step has the sources of the steps before it, and the next call those of the saga", async () => {
  await govern({ ...ANY_FLOW, allowedTools: [...JOURNEY_TOOLS, "core__calculate"] });
  const saga = { name: SAGA, args: JSON.stringify({ where: "Nice", pin: "1" }) };
  const sum = { name: "core__calculate", args: '{"expression":"1+1"}' };
  const response = await chat([{ calls: [saga] }, { calls: [sum] }, {}], "bendable");
  await response.text();
  const { toolCalls } = await ended(runIdOf(response), "bendable");
  const after = [{ kind: "tool", tool: "lab__book_room", call: toolCalls[1]?.toolCallId }];
  expect(toolCalls.map((call) => [call.name, call.after])).toEqual([
    [SAGA, undefined],
    ["lab__book_room", undefined],
    ["lab__book_train", after],
    ["lab__pay_journey", after],
    ["lab__mail_tickets", after],
    ["core__calculate", after],
  ]);
});

test("a step without a way back asks after an untrusted step, and is the person's to reject", async () => {
  await govern({ allowedTools: JOURNEY_TOOLS });
  const args = JSON.stringify({ where: "Bari", pin: "4831" });
  const runId = runIdOf(await chat([{ calls: [{ name: SAGA, args }] }, {}], "victor"));
  const [approvalId = ""] = openOf(await untilState(runId, { status: "waiting" }, "victor"));
  expect(await viewOf(approvalId, "victor")).toMatchObject({
    toolId: "lab__pay_journey",
    packet: { after: [{ kind: "tool", tool: "lab__book_room" }] },
  });
  expect(journey).toEqual(["book_room Bari", "book_train Bari"]);
  await decide(approvalId, "victor", REJECT);
  await ended(runId, "victor");
  expect(journey.slice(2)).toEqual(["cancel_train Bari", "cancel_room Bari"]);
});

test("a step that fails undoes the steps before it, the last one first", async () => {
  faults.set("pay", "fails");
  const told = await book("Oslo");
  expect(journey).toEqual([
    "book_room Oslo",
    "book_train Oslo",
    "cancel_train Oslo",
    "cancel_room Oslo",
  ]);
  expect(told).toMatchObject({
    taxonomy: "SEMANTIC_INVALIDITY",
    codes: ["full", "saga_undone"],
    calls: [
      [SAGA, "FAILED_FINAL"],
      ["lab__book_room", "COMPENSATED"],
      ["lab__book_train", "COMPENSATED"],
      ["lab__pay_journey", "FAILED_FINAL"],
      ["lab__cancel_train", "COMPLETED"],
      ["lab__cancel_room", "COMPLETED"],
    ],
  });
});

test("what happened before a step that cannot be undone stays when a later step fails", async () => {
  faults.set("mail", "fails");
  const told = await book("Bonn");
  expect(journey).toEqual(["book_room Bonn", "book_train Bonn", "pay Bonn"]);
  expect(told).toMatchObject({
    taxonomy: "PARTIAL_SUCCESS",
    codes: [],
    data: {
      completed_steps: [
        { step: 1, tool: "lab__book_room", invocation_id: "inv_2" },
        { step: 2, tool: "lab__book_train", invocation_id: "inv_3" },
        { step: 3, tool: "lab__pay_journey", invocation_id: "inv_4" },
      ],
      failed_steps: [{ step: 4, tool: "lab__mail_tickets", code: "full" }],
      hints: [
        "The completed steps stay. Do not ask for them again.",
        "Ask people before you do by hand what is missing.",
      ],
    },
  });
  expect(told.calls[0]).toEqual([SAGA, "COMPLETED"]);
});

test("a compensation that fails stops the undoing, and the steps that stay are named", async () => {
  faults.set("pay", "fails");
  faults.set("cancel_train", "fails");
  const told = await book("Kiel");
  expect(journey).toEqual(["book_room Kiel", "book_train Kiel"]);
  expect(told).toMatchObject({
    taxonomy: "COMPENSATION_FAILED",
    codes: ["compensation_failed", "step_failed", "not_undone", "not_undone"],
  });
  expect(told.calls[0]).toEqual([SAGA, "COMPLETED"]);
});

test("a step whose output is unusable cannot be undone, and nothing pretends that it was", async () => {
  faults.set("book_train", "breaks");
  const told = await book("Pisa");
  expect(journey).toEqual(["book_room Pisa", "book_train Pisa"]);
  expect(told).toMatchObject({
    taxonomy: "PARTIAL_SUCCESS",
    data: {
      completed_steps: [{ step: 1 }, { step: 2 }],
      failed_steps: [
        { step: 2, code: "invalid_output" },
        { step: 3, code: "not_begun" },
        { step: 4, code: "not_begun" },
      ],
    },
  });
});

test("a step that policy denies is not made, and what a step undoes needs policy too", async () => {
  await govern({
    ...ANY_FLOW,
    allowedTools: JOURNEY_TOOLS.filter((id) => id !== "lab__pay_journey"),
  });
  const denied = await book("Nice");
  expect(journey).toEqual([
    "book_room Nice",
    "book_train Nice",
    "cancel_train Nice",
    "cancel_room Nice",
  ]);
  expect(denied).toMatchObject({ taxonomy: "POLICY_VIOLATION" });
  journey.length = 0;
  faults.set("pay", "fails");
  await govern({
    ...ANY_FLOW,
    allowedTools: JOURNEY_TOOLS.filter((id) => id !== "lab__cancel_room"),
  });
  const stuck = await book("Nice again");
  expect(journey).toEqual([
    "book_room Nice again",
    "book_train Nice again",
    "cancel_train Nice again",
  ]);
  expect(stuck).toMatchObject({ taxonomy: "COMPENSATION_FAILED" });
});

test("a model's call that has the id of a step is another call", async () => {
  const args = JSON.stringify({ where: "Rome", pin: "1" });
  const calls = [
    { id: "call_1", name: SAGA, args },
    { id: "call_1~s1", name: "lab__no_such_tool", args },
  ];
  const response = await chat([{ calls }, { text: ["done"] }], "bendable");
  await response.text();
  const { toolCalls } = await ended(runIdOf(response), "bendable");
  expect(toolCalls.map(({ name, state, saga }) => [name, state, saga])).toEqual([
    [SAGA, "COMPLETED", undefined],
    ["lab__no_such_tool", "FAILED_FINAL", undefined],
    ["lab__book_room", "COMPLETED", "inv_1"],
    ["lab__book_train", "COMPLETED", "inv_1"],
    ["lab__pay_journey", "COMPLETED", "inv_1"],
    ["lab__mail_tickets", "COMPLETED", "inv_1"],
  ]);
});

describe("cancelling", () => {
  test("lets the running step end, makes no other one and undoes what was made", async () => {
    faults.set("book_train", "holds");
    const response = await start("Lyon");
    const runId = runIdOf(response);
    await expect.poll(() => journey).toContain("book_train Lyon");
    const cancelled = cancel(runId, "bendable");
    const stops = [{ stop: "cancelled" }];
    await expect.poll(() => rowsOf(runId, "SELECT stop FROM run")).toEqual(stops);
    await fetch(releaseUrl("book_train"));
    expect((await cancelled).status).toBeLessThan(300);
    await response.body?.cancel();
    const { toolCalls } = await untilState(runId, { reason: "cancelled" }, "bendable");
    expect(journey).toEqual([
      "book_room Lyon",
      "book_train Lyon",
      "cancel_train Lyon",
      "cancel_room Lyon",
    ]);
    expect(toolCalls.map(({ state }) => state)).toEqual([
      "FAILED_FINAL",
      "COMPENSATED",
      "COMPENSATED",
      "COMPLETED",
      "COMPLETED",
    ]);
  });
});

describe("a crash in", () => {
  test.each(["book_room", "book_train", "pay", "mail"])("%s repeats no step", async (effect) => {
    faults.set(effect, "crashes");
    const response = await start("Wien");
    const runId = runIdOf(response);
    crashes.set(runId, () => void crash(runId));
    await response.body?.cancel().catch(() => {});
    const told = await tell(runId);
    expect(told.taxonomy).toBe("SUCCESS");
    expect(journey).toEqual(["book_room Wien", "book_train Wien", "pay Wien", "mail Wien"]);
  });
});

const CONFIRMED = "lab__confirmed_journey";
const CONFIRMED_TOOLS = [
  CONFIRMED,
  "lab__confirmed_room",
  "lab__confirmed_train",
  "lab__cancel_room",
  "lab__cancel_train",
];

describe("one approval of a saga", () => {
  test("covers the step whose payload it showed; a step whose payload was not known asks itself", async () => {
    await changeGuildPolicy({ ...ANY_FLOW, allowedTools: CONFIRMED_TOOLS });
    const asked = await askFor([callOf(CONFIRMED, { where: "Bern", pin: "4831" })], "ann");
    const { packet } = await viewOf(asked.approvalId, "ann");
    expect(packet.steps).toEqual([
      {
        tool: "lab__confirmed_room",
        version: "1.0.0",
        payload: {
          title: "Book a room",
          arguments: { shown: { where: "Bern" }, withheld: ["/pin"] },
          fingerprint: expect.any(String),
        },
      },
      { tool: "lab__confirmed_train", version: "1.0.0", payload: null },
    ]);
    expect(journey).toEqual([]);
    expect((await decide(asked.approvalId, "ann", APPROVE)).status).toBe(200);
    const waiting = await untilState(
      asked.runId,
      { toolCalls: [{}, { state: "COMPLETED" }, { approvalId: expect.any(String) }] },
      "ann",
    );
    expect(journey).toEqual(["confirmed_room Bern"]);
    const [second] = openOf(waiting);
    expect((await decide(second ?? "none", "ann", APPROVE)).status).toBe(200);
    await ended(asked.runId, "ann");
    expect(journey).toEqual(["confirmed_room Bern", "confirmed_train Bern"]);
    await asked.response.body?.cancel();
  });

  test("covers no step for which policy asks on its own", async () => {
    await changeGuildPolicy({
      ...ANY_FLOW,
      allowedTools: CONFIRMED_TOOLS,
      approvals: [{ tools: ["lab__confirmed_room"], pattern: "user_consent" }],
    });
    const asked = await askFor([callOf(CONFIRMED, { where: "Genf", pin: "1" })], "ann");
    await decide(asked.approvalId, "ann", APPROVE);
    await untilState(
      asked.runId,
      { status: "waiting", toolCalls: [{}, { approvalId: expect.any(String) }] },
      "ann",
    );
    expect(journey).toEqual([]);
    await cancel(asked.runId, "ann");
    await asked.response.body?.cancel();
    await untilState(asked.runId, { reason: "cancelled" }, "ann");
    expect(journey).toEqual([]);
  });
});

import { beforeAll, beforeEach, expect, test } from "vitest";
import { ended } from "../shared/people.ts";
import { transcriptOf } from "../shared/run-object.ts";
import { chat, chunksOf, govern, runIdOf, seedPolicies, send } from "../shared/worker.ts";
import { faults, journey, JOURNEY_TOOLS } from "../workers/lab-sagas.ts";

const SAGA = "lab__book_journey";

beforeAll(seedPolicies);
beforeEach(async () => {
  journey.length = 0;
  faults.clear();
  await govern({ allowedTools: JOURNEY_TOOLS });
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

import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  APPROVE,
  askFor,
  askNobody,
  callOf,
  changeGuildPolicy,
  decide,
  ended,
  openOf,
  viewOf,
  type Asked,
} from "../shared/people.ts";
import { cancel, changeInvocation, crash, ring, untilState } from "../shared/run-object.ts";
import { chat, govern, runIdOf, seedPolicies } from "../shared/worker.ts";
import { ANY_FLOW } from "../workers/lab-approvals.ts";
import { crashes } from "../workers/lab-crashes.ts";
import { ANSWERS, SHELF_TOOLS, shelves } from "../workers/lab-saga-faults.ts";
import { faults, journey } from "../workers/lab-sagas.ts";

beforeAll(seedPolicies);
beforeEach(async () => {
  shelves.length = 0;
  journey.length = 0;
  faults.clear();
  await govern({ ...ANY_FLOW, allowedTools: SHELF_TOOLS });
});

const FAULTS = Object.keys(ANSWERS);

test.each(FAULTS)("a saga whose arguments of a step are wrong (%s) is undone", async (asks) => {
  const [called, ...steps] = await askNobody([callOf("lab__odd_shelf", { asks })], "bendable");
  expect(called).toMatchObject({ state: "FAILED_FINAL", outcome: expect.stringMatching(/^[A-Z]/) });
  expect(steps.map(({ state }) => state)).not.toContain("PENDING");
  expect(shelves).toEqual(["filled A", "emptied A"]);
});

test.each(FAULTS)(
  "a saga whose result is wrong (%s) has happened, and says so",
  async (answers) => {
    const [called] = await askNobody([callOf("lab__odd_shelf", { answers })], "bendable");
    expect(called).toMatchObject({ state: "COMPLETED", outcome: "OBSERVATION_NORMALIZATION_FAIL" });
    expect(shelves).toEqual(["filled A", "sold A"]);
  },
);

test.each(FAULTS)(
  "a call whose compensate is wrong (%s) is never undone by guess",
  async (undoes) => {
    const args = { shelf: "A", undoes };
    const [called] = await askNobody([callOf("lab__fill_shelf", args)], "bendable");
    expect(called).toMatchObject({ state: "COMPLETED", outcome: "SUCCESS" });
    expect(called?.undo).toBeUndefined();
  },
);

test("what was made before a step that cannot be undone stays when the outcome of that step is unknown", async () => {
  const calls = [callOf("lab__sell_filled", { shelf: "crash" })];
  const response = await chat([{ calls }, { text: ["done"] }], "bendable");
  const runId = runIdOf(response);
  crashes.set(runId, () => void crash(runId));
  await response.body?.cancel().catch(() => {});
  const awaited = { name: "lab__sell_shelf", awaitsOutcomeUntil: expect.any(String) as string };
  await untilState(runId, { status: "waiting", toolCalls: [{}, {}, awaited] }, "bendable");
  await changeInvocation(runId, 3, { awaitedUntilMs: 1 });
  await ring(runId, "outcome");
  const { toolCalls } = await untilState(runId, { status: "failed" }, "bendable");
  expect(toolCalls.map(({ state, outcome }) => [state, outcome])).toEqual([
    ["COMPLETED", "PARTIAL_SUCCESS"],
    ["COMPLETED", "SUCCESS"],
    ["EXPIRED", expect.any(String)],
  ]);
  expect(shelves).toEqual(["filled crash", "sold crash"]);
});

describe("a saga that people approve", () => {
  const SAGA = "lab__confirmed_journey";
  const ROOM = ["lab__confirmed_room", "lab__cancel_room"];
  const TRAIN = ["lab__confirmed_train", "lab__cancel_train"];
  const allow = (allowedTools: readonly string[]): Promise<void> =>
    changeGuildPolicy({ ...ANY_FLOW, allowedTools });

  /** Approves the saga, and waits until its second step asks. */
  async function halfWay(where: string): Promise<Asked & { readonly second: string }> {
    await allow([SAGA, ...ROOM, ...TRAIN]);
    const asked = await askFor([callOf(SAGA, { where, pin: "1" })], "ann");
    expect((await decide(asked.approvalId, "ann", APPROVE)).status).toBe(200);
    const waits = { toolCalls: [{}, {}, { approvalId: expect.any(String) as string }] };
    const state = await untilState(asked.runId, { status: "waiting", ...waits }, "ann");
    await asked.response.body?.cancel();
    return { ...asked, second: openOf(state)[0] ?? "none" };
  }

  test("is undone when the run is cancelled", async () => {
    const { runId } = await halfWay("Genf");
    await cancel(runId, "ann");
    const { toolCalls } = await untilState(runId, { reason: "cancelled" }, "ann");
    expect(journey).toEqual(["confirmed_room Genf", "cancel_room Genf"]);
    expect(toolCalls.map(({ state }) => state)).toEqual([
      "FAILED_FINAL",
      "COMPENSATED",
      "FAILED_FINAL",
      "COMPLETED",
    ]);
  });

  test("goes on, after a crash too, when policy takes the saga itself back", async () => {
    const { runId, second } = await halfWay("Metz");
    await crash(runId);
    await allow([...ROOM, ...TRAIN]);
    expect((await decide(second, "ann", APPROVE)).status).toBe(200);
    const { toolCalls } = await ended(runId, "ann");
    expect(journey).toEqual(["confirmed_room Metz", "confirmed_train Metz"]);
    expect(toolCalls[0]).toMatchObject({ state: "COMPLETED", outcome: "SUCCESS" });
  });

  test("is undone, after a crash too, when policy takes the tool of the step back", async () => {
    const { runId, second } = await halfWay("Lille");
    await crash(runId);
    await allow([SAGA, ...ROOM]);
    expect((await decide(second, "ann", APPROVE)).status).toBe(409);
    const { toolCalls } = await ended(runId, "ann");
    expect(journey).toEqual(["confirmed_room Lille", "cancel_room Lille"]);
    expect(toolCalls[0]).toMatchObject({ state: "FAILED_FINAL", outcome: "POLICY_VIOLATION" });
  });

  test("is shown again, with its new steps, after an approver has edited it", async () => {
    await allow([SAGA, ...ROOM, ...TRAIN]);
    const asked = await askFor([callOf(SAGA, { where: "Bern", pin: "1" })], "ann");
    const edited = { ...APPROVE, arguments: { where: "Basel" } };
    expect((await decide(asked.approvalId, "ann", edited)).status).toBe(200);
    await asked.response.body?.cancel();
    await expect.poll(() => journey).toEqual(["confirmed_room Basel"]);
    const edit = await viewOf(asked.approvalId.replace(/1$/, "2"), "ann");
    expect(edit.packet.steps?.[0]?.payload?.arguments.shown).toEqual({ where: "Basel" });
    expect([edit.status, edit.approvals]).toEqual(["approved", 1]);
    await cancel(asked.runId, "ann");
    await untilState(asked.runId, { reason: "cancelled" }, "ann");
  });
});

import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AwaitedOutcome } from "../../src/protocol/run/awaited-outcome.ts";
import type { RunState } from "../../src/protocol/run/state.ts";
import { read } from "../shared/invoke.ts";
import { ended } from "../shared/people.ts";
import { refusalOf, tellOutcome } from "../shared/run-object.ts";
import { chat, govern, runIdOf, seedPolicies, send, stateOf } from "../shared/worker.ts";
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

/** Runs a saga to its end. */
async function book(where: string): Promise<string> {
  const args = JSON.stringify({ where, pin: "4831" });
  const calls = [{ id: "call_1", name: SAGA, args }];
  const response = await chat([{ calls }, { text: ["done"] }], "bendable");
  await response.text();
  const runId = runIdOf(response);
  await ended(runId, "bendable");
  return runId;
}

/** Runs a saga whose third step fails, and which then cannot undo its second one. */
async function bookInVain(where: string): Promise<string> {
  faults.set("pay", "fails");
  faults.set("cancel_train", "fails");
  return book(where);
}

async function outcomesOf(runId: string): Promise<readonly AwaitedOutcome[]> {
  const response = await send("/v1/outcomes?limit=100", { caller: "bendable" });
  const { outcomes } = await response.json<{ outcomes: readonly AwaitedOutcome[] }>();
  return outcomes.filter((outcome) => outcome.runId === runId);
}

const report = (runId: string, outcome: string, invocation = "inv_3"): Promise<Response> =>
  tellOutcome(runId, { body: { outcome }, caller: "bendable", invocation });

const undosOf = ({ toolCalls }: RunState): readonly (string | undefined)[] =>
  toolCalls.map(({ undo }) => undo?.status);

function undo(runId: string, invocation: string): Promise<Response> {
  const path = `/v1/runs/${runId}/invocations/${invocation}/compensate`;
  return send(path, { caller: "bendable", method: "POST" });
}

describe("a step that its saga could not undo", () => {
  test("is on the list of operators, with the saga and the other steps that stay", async () => {
    const runId = await bookInVain("Kiel");
    await expect.poll(() => outcomesOf(runId)).toHaveLength(1);
    expect(await outcomesOf(runId)).toMatchObject([
      {
        invocationId: "inv_3",
        toolId: "lab__book_train",
        arguments: { where: "Kiel" },
        undo: {
          runId,
          toolId: "lab__cancel_train",
          saga: {
            invocationId: "inv_1",
            toolId: SAGA,
            stays: [{ invocationId: "inv_2", toolId: "lab__book_room" }],
          },
        },
      },
    ]);
    expect(JSON.stringify(await outcomesOf(runId))).not.toMatch(/4831|secret-/);
    expect(undosOf(await stateOf(runId, "bendable"))).toEqual([
      undefined,
      "available",
      "failed",
      undefined,
      undefined,
    ]);
  });

  test("is not undone by a person before an operator has looked", async () => {
    const runId = await bookInVain("Speyer");
    faults.clear();
    expect(await refusalOf(await undo(runId, "inv_3"))).toEqual([409, "undo_not_possible"]);
    expect(journey).toEqual(["book_room Speyer", "book_train Speyer"]);
  });

  test("is on the list when policy does not allow the tool that undoes it", async () => {
    faults.set("pay", "fails");
    await govern({
      ...ANY_FLOW,
      allowedTools: JOURNEY_TOOLS.filter((id) => id !== "lab__cancel_room"),
    });
    const runId = await book("Nizza");
    await expect.poll(() => outcomesOf(runId)).toHaveLength(1);
    expect(await outcomesOf(runId)).toMatchObject([
      { toolId: "lab__book_room", undo: { saga: { stays: [] } } },
    ]);
  });

  test("and of which an operator reports that it is undone is COMPENSATED", async () => {
    const runId = await bookInVain("Mainz");
    expect((await report(runId, "committed")).status).toBe(200);
    expect((await stateOf(runId, "bendable")).toolCalls[2]).toMatchObject({
      state: "COMPENSATED",
      undo: { status: "undone" },
    });
    await expect.poll(() => outcomesOf(runId)).toEqual([]);
    expect(await refusalOf(await undo(runId, "inv_3"))).toEqual([409, "undo_not_possible"]);
    expect(journey).toEqual(["book_room Mainz", "book_train Mainz"]);
  });

  test("and of which an operator reports that it stays may be undone by a person, once", async () => {
    const runId = await bookInVain("Worms");
    expect((await report(runId, "not_committed")).status).toBe(200);
    await expect.poll(() => outcomesOf(runId)).toEqual([]);
    expect(undosOf(await stateOf(runId, "bendable"))[2]).toBe("available");
    faults.clear();
    for (const step of ["inv_3", "inv_3", "inv_2"]) {
      expect((await read(await undo(runId, step))).status).toBe(200);
    }
    expect(journey.slice(2)).toEqual(["cancel_train Worms", "cancel_room Worms"]);
    await expect
      .poll(async () => (await stateOf(runId, "bendable")).toolCalls.map(({ state }) => state))
      .toEqual(["COMPLETED", "COMPENSATED", "COMPENSATED", "FAILED_FINAL", "FAILED_FINAL"]);
  });

  test("names no saga when the undo of a person failed afterwards", async () => {
    const runId = await bookInVain("Trier");
    await report(runId, "not_committed");
    faults.delete("pay");
    const failed = await read(await undo(runId, "inv_3"));
    await expect.poll(() => outcomesOf(runId)).toHaveLength(1);
    const [listed] = await outcomesOf(runId);
    expect(listed?.undo).toEqual({ runId: failed.runId, toolId: "lab__cancel_train" });
  });
});

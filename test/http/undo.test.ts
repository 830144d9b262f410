import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { RunState, ToolCallSummary } from "../../src/protocol/run/state.ts";
import { releaseUrl } from "../fakes/scripted-model.ts";
import { invoke, read, type Invoked } from "../shared/invoke.ts";
import { APPROVE, decide, openOf, REJECT } from "../shared/people.ts";
import { cancel, refusalOf, ring, rowsOf, tellOutcome } from "../shared/run-object.ts";
import { chat, govern, HOST_PAGE, runIdOf, send, stateOf, type Caller } from "../shared/worker.ts";
import { library } from "../workers/lab-library.ts";
import { replayEachRun } from "../shared/replayed-runs.ts";

replayEachRun();

const ALL_TOOLS = ["lab__lend_book", "lab__return_book", "lab__ship_book", "lab__recall_book"];

const POLICY = {
  allowedTools: ALL_TOOLS,
  origins: [HOST_PAGE],
  embedMinters: [{ actorId: "service:desk" }],
};

beforeAll(() => govern(POLICY));
beforeEach(() => {
  library.happened.length = 0;
  library.fault = undefined;
});

/** Asks to undo a call. */
function undo(runId: string, caller: Caller = "victor", invocation = "inv_1"): Promise<Response> {
  const path = `/v1/runs/${runId}/invocations/${invocation}/compensate`;
  return send(path, { caller, method: "POST" });
}

/** Lends a book, by a direct call of victor unless said otherwise. */
async function lend(
  book: string,
  toolId = "lab__lend_book",
  caller: Caller = "victor",
): Promise<string> {
  const lent = await read(await invoke(toolId, { book }, { caller, key: `"${toolId} ${book}"` }));
  expect(lent.status).toBe(200);
  return lent.runId;
}

async function callOf(runId: string, caller: Caller = "victor"): Promise<ToolCallSummary> {
  const [call] = (await stateOf(runId, caller)).toolCalls;
  if (!call) throw new Error("no call");
  return call;
}

/** Waits until a call is undone, or until its undo stands otherwise. */
function untilUndo(runId: string, status: string, caller: Caller = "victor"): Promise<void> {
  return expect.poll(async () => (await callOf(runId, caller)).undo?.status).toBe(status);
}

describe("undoing a completed call", () => {
  test("runs the tool that its contract names, with the arguments that were made when it completed", async () => {
    const runId = await lend("Emma");
    expect((await callOf(runId)).undo).toEqual({ status: "available", toolId: "lab__return_book" });
    const undone = await read(await undo(runId));
    expect(undone).toMatchObject({
      status: 200,
      observation: {
        status: { taxonomy_class: "SUCCESS" },
        tool_identity: { name: "lab__return_book" },
      },
    });
    expect(library.happened).toEqual(["lent Emma", "returned Emma"]);
    await untilUndo(runId, "undone");
    expect(await callOf(runId)).toMatchObject({
      state: "COMPENSATED",
      undo: { runId: undone.runId },
    });
    expect(await stateOf(undone.runId, "victor")).toMatchObject({
      model: "none",
      call: { toolId: "lab__return_book", undoes: { runId, invocationId: "inv_1" } },
      toolCalls: [{ state: "COMPLETED" }],
    });
  });

  test("works for a call of a model, too", async () => {
    const calls = [{ id: "c", name: "lab__lend_book", args: '{"book":"Dune"}' }];
    const response = await chat([{ calls }, { text: ["done"] }], "victor");
    await response.text();
    const runId = runIdOf(response);
    expect((await undo(runId)).status).toBe(200);
    await untilUndo(runId, "undone");
    expect(library.happened).toEqual(["lent Dune", "returned Dune"]);
  });

  test("happens once, however often and by how many it is asked for at once", async () => {
    const runId = await lend("Ulysses");
    const sent = Array.from({ length: 20 }, (_, at) => undo(runId, at % 2 ? "victor" : "bendable"));
    const answers = await Promise.all((await Promise.all(sent)).map(read));
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    await untilUndo(runId, "undone");
    expect(library.happened).toEqual(["lent Ulysses", "returned Ulysses"]);
  });

  test("that is repeated later answers the same, and does nothing", async () => {
    const runId = await lend("Hamlet");
    const first = await (await undo(runId)).json();
    await untilUndo(runId, "undone");
    expect(await (await undo(runId)).json()).toEqual(first);
    expect(library.happened).toEqual(["lent Hamlet", "returned Hamlet"]);
  });

  test("that goes on refuses a second request, and names the run in the state", async () => {
    library.fault = "hold";
    const runId = await lend("Iliad");
    const first = undo(runId);
    await untilUndo(runId, "running");
    const second = await undo(runId);
    expect([second.status, second.headers.get("retry-after")]).toEqual([409, "1"]);
    await fetch(releaseUrl("Iliad"));
    const { runId: undoRun } = await read(await first);
    await untilUndo(runId, "undone");
    expect((await callOf(runId)).undo?.runId).toBe(undoRun);
  });

  test("makes a duplicate of the call say so", async () => {
    const runId = await lend("Faust");
    const args = [
      "lab__lend_book",
      { book: "Faust" },
      { caller: "victor", key: `"lab__lend_book Faust"` },
    ] as const;
    expect((await read(await invoke(...args))).state).toBeUndefined();
    await (await undo(runId)).text();
    await untilUndo(runId, "undone");
    expect(await read(await invoke(...args))).toMatchObject({
      status: 200,
      runId,
      state: "COMPENSATED",
    });
    expect(library.happened).toEqual(["lent Faust", "returned Faust"]);
  });
});

describe("an undo that people have to approve", () => {
  const waiting = async (book: string): Promise<{ runId: string; asked: Invoked }> => {
    const runId = await shipped(book);
    const asked = await read(await undo(runId));
    expect(asked.status).toBe(202);
    return { runId, asked };
  };

  test("waits, and happens after the approval", async () => {
    const { runId, asked } = await waiting("Odyssey");
    expect((await callOf(runId)).undo?.status).toBe("running");
    expect((await read(await undo(runId))).runId).toBe(asked.runId);
    await approveFirst(asked, APPROVE);
    await untilUndo(runId, "undone");
    expect(library.happened).toEqual(["lent Odyssey", "returned Odyssey"]);
  });

  test.each([
    ["refused", (asked: Invoked) => approveFirst(asked, REJECT)],
    ["cancelled", async (asked: Invoked) => void (await cancel(asked.runId, "victor"))],
    [
      "expired",
      async ({ runId }: Invoked) => {
        await rowsOf(runId, "UPDATE approvals SET body = json_set(body, '$.expiresAtMs', 1)");
        await ring(runId, "approval");
      },
    ],
  ])("and is %s releases the call, so that a person may try again", async (name, end) => {
    const { runId, asked } = await waiting(`Sagas ${name}`);
    await end(asked);
    await untilUndo(runId, "available");
    expect(library.happened).toHaveLength(1);
    const again = await read(await undo(runId));
    expect(again.status).toBe(202);
    expect(again.runId).not.toBe(asked.runId);
    await approveFirst(again, APPROVE);
    await untilUndo(runId, "undone");
    expect(library.happened).toHaveLength(2);
  });
});

/** Ships a book, with the consent that shipping itself needs not. */
const shipped = (book: string): Promise<string> => lend(book, "lab__ship_book");

async function approveFirst(asked: Invoked, decision: object): Promise<void> {
  const [approvalId = ""] = openOf(asked as unknown as RunState);
  expect((await decide(approvalId, "victor", decision)).status).toBe(200);
}

describe("an undo that fails", () => {
  test("because the row changed since is STALE_STATE, and stays so", async () => {
    const runId = await lend("Beowulf");
    library.revisions.set("Beowulf", 7);
    const refused = await read(await undo(runId));
    expect(refused).toMatchObject({
      status: 200,
      observation: { status: { taxonomy_class: "STALE_STATE" } },
    });
    await untilUndo(runId, "stale");
    expect(await callOf(runId)).toMatchObject({ state: "COMPLETED" });
    expect((await read(await undo(runId))).runId).toBe(refused.runId);
    expect(library.happened).toEqual(["lent Beowulf"]);
  });

  test("is COMPENSATION_FAILED, is never repeated by a click, and an operator is told", async () => {
    const runId = await lend("Edda");
    library.fault = "SEMANTIC_INVALIDITY";
    const failed = await read(await undo(runId));
    expect(failed.observation?.status.taxonomy_class).toBe("COMPENSATION_FAILED");
    await untilUndo(runId, "failed");
    expect((await callOf(runId)).state).toBe("COMPLETED");
    library.fault = undefined;
    expect((await read(await undo(runId))).runId).toBe(failed.runId);
    expect(library.happened).toEqual(["lent Edda"]);
    await expect
      .poll(() => outcomesOf(runId))
      .toMatchObject([
        {
          runId,
          invocationId: "inv_1",
          toolId: "lab__lend_book",
          undo: { runId: failed.runId, toolId: "lab__return_book" },
        },
      ]);
  });

  test.each([
    ["committed", "undone", "COMPENSATED"],
    ["not_committed", "available", "COMPLETED"],
  ])("and of which an operator reports %s is %s", async (outcome, status, state) => {
    const runId = await lend(`Kalevala ${outcome}`);
    library.fault = "SEMANTIC_INVALIDITY";
    await (await undo(runId)).text();
    await untilUndo(runId, "failed");
    expect((await tellOutcome(runId, { body: { outcome }, caller: "victor" })).status).toBe(403);
    expect((await tellOutcome(runId, { body: { outcome }, caller: "bendable" })).status).toBe(200);
    expect(await callOf(runId)).toMatchObject({ state, undo: { status } });
    await expect.poll(() => outcomesOf(runId)).toEqual([]);
    library.fault = undefined;
    await (await undo(runId)).text();
    expect(library.happened).toHaveLength(outcome === "committed" ? 1 : 2);
  });

  test("with an unknown outcome waits for an operator, who may say that it happened", async () => {
    const runId = await lend("Aeneid");
    library.fault = "TIMEOUT";
    const asked = await read(await undo(runId));
    expect(asked.status).toBe(202);
    await tellOutcome(asked.runId, { body: { outcome: "committed" }, caller: "bendable" });
    await untilUndo(runId, "undone");
  });
});

async function outcomesOf(runId: string): Promise<readonly object[]> {
  const response = await send("/v1/outcomes?limit=100", { caller: "bendable" });
  const { outcomes } = await response.json<{ outcomes: { runId: string }[] }>();
  return outcomes.filter((outcome) => outcome.runId === runId);
}

describe("an undo is refused", () => {
  test.each<[Caller]>([["neighbour"], ["stranger"], ["mallory"], ["victorsAgent"]])(
    "to %s exactly as for an unknown run",
    async (caller) => {
      const runId = await lend(`Private of ${caller}`);
      const refused = await undo(runId, caller);
      const unknown = await undo(`${runId.slice(0, -4)}0000`, caller);
      expect([refused.status, await refused.text()]).toEqual([404, await unknown.text()]);
      expect(library.happened).toHaveLength(1);
    },
  );

  test("for an invocation that does not exist, and for a call that nothing can undo", async () => {
    const runId = await lend("Candide");
    expect(await refusalOf(await undo(runId, "victor", "inv_2"))).toEqual([
      404,
      "invocation_not_found",
    ]);
    expect(await refusalOf(await undo(runId, "victor", "x"))).toEqual([
      404,
      "invocation_not_found",
    ]);
    const undone = await read(await undo(runId));
    expect(await refusalOf(await undo(undone.runId))).toEqual([409, "undo_not_possible"]);
  });

  test("when policy does not allow the tool that undoes the call, and is not offered then", async () => {
    const runId = await lend("Lolita");
    await govern({ allowedTools: ["lab__lend_book"] });
    try {
      expect(await refusalOf(await undo(runId))).toEqual([403, "undo_not_allowed"]);
      expect((await callOf(runId)).undo).toBeUndefined();
    } finally {
      await govern(POLICY);
    }
    expect((await callOf(runId)).undo?.status).toBe("available");
    expect(library.happened).toEqual(["lent Lolita"]);
  });

  test("to a page whose token does not bind the tool that undoes the call", async () => {
    const page = { origin: HOST_PAGE, actorId: "user:victor" };
    const mint = async (toolIds: readonly string[]): Promise<string> => {
      const minted = await send("/v1/embed-tokens", {
        caller: "desk",
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...page, toolIds }),
      });
      return (await minted.json<{ token: string }>()).token;
    };
    const token = await mint(["lab__lend_book"]);
    const asked = { token, origin: HOST_PAGE, key: "page" };
    const { runId } = await read(await invoke("lab__lend_book", { book: "Medea" }, asked));
    const undoWith = (bearer: string): Promise<Response> =>
      send(`/v1/runs/${runId}/invocations/inv_1/compensate`, {
        method: "POST",
        headers: { authorization: `Bearer ${bearer}`, origin: HOST_PAGE },
      });
    expect(await refusalOf(await undoWith(token))).toEqual([403, "undo_not_allowed"]);
    expect(library.happened).toEqual(["lent Medea"]);
    const wider = await mint(["lab__lend_book", "lab__return_book"]);
    expect((await undoWith(wider)).status).toBe(200);
    expect(library.happened).toEqual(["lent Medea", "returned Medea"]);
  });

  test("once the run is no longer kept", async () => {
    const runId = await lend("Walden");
    await ring(runId, "retention");
    expect(await refusalOf(await undo(runId))).toEqual([410, "run_expired"]);
    expect(library.happened).toEqual(["lent Walden"]);
  });
});

test("an operator may undo the call of another person, who sees how it stands", async () => {
  const runId = await lend("Emile");
  expect((await undo(runId, "bendable")).status).toBe(200);
  await untilUndo(runId, "undone");
  expect(await refusalOf(await undo(runId))).toEqual([409, "undo_by_another"]);
  expect(library.happened).toEqual(["lent Emile", "returned Emile"]);
});

test("the audit log names who undid what", async () => {
  const runId = await lend("Utopia");
  await (await undo(runId, "bendable")).text();
  await untilUndo(runId, "undone");
  const records = async (): Promise<readonly object[]> => {
    const response = await send(`/v1/audit?run=${runId}&limit=100`, { caller: "bendable" });
    const body = await response.json<{ records: { entry: { action: string } }[] }>();
    return body.records
      .map(({ entry }) => entry)
      .filter(({ action }) => action.startsWith("undo."));
  };
  await expect.poll(records).toMatchObject([
    { action: "undo.started", actorId: "user:bendable", toolId: "lab__lend_book" },
    { action: "undo.ended", decision: "undone", invocationId: "inv_1" },
  ]);
});

import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { putAssistant } from "../shared/assistants.ts";
import { GAMEPLAN_IDS } from "../../apps/gameplan/test/studio.ts";
import { invoke, read } from "../shared/invoke.ts";
import { APPROVE, decide, openOf, viewOf } from "../shared/people.ts";
import { refusalOf, untilState } from "../shared/run-object.ts";
import { govern, HOST_PAGE, putConnection, send, stateOf, type Caller } from "../shared/worker.ts";
import { governStudio } from "../shared/workspaces.ts";
import { library } from "../workers/lab-library.ts";
import type { RunState } from "../../src/protocol/run/state.ts";

const LEND = "lab__lend_book";
const RETURN = "lab__return_book";
const POLICY = {
  allowedTools: [LEND, RETURN, "lab__ship_book", "lab__recall_book"],
  origins: [HOST_PAGE],
  embedMinters: [{ actorId: "service:desk" }],
};

beforeAll(() => govern(POLICY));
beforeEach(() => void (library.happened.length = 0));

interface Page {
  readonly token: string;
}

/** Opens a page of one origin with a token that binds what is named. */
async function openPage(bound: object, minter: Caller = "desk"): Promise<Page> {
  const minted = await send("/v1/embed-tokens", {
    caller: minter,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ origin: HOST_PAGE, actorId: "user:victor", ...bound }),
  });
  expect(minted.status).toBe(200);
  return minted.json<Page>();
}

/** Calls a tool on a page, and answers the id of its run. */
async function call({ token }: Page, toolId: string, args: object): Promise<string> {
  const asked = { token, origin: HOST_PAGE, key: crypto.randomUUID() };
  const called = await read(await invoke(toolId, args, asked));
  expect(called).toMatchObject({
    status: 200,
    observation: { status: { taxonomy_class: "SUCCESS" } },
  });
  return called.runId;
}

function onPage({ token }: Page, path: string, method = "GET"): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, origin: HOST_PAGE };
  return send(path, { method, headers });
}

const undo = (page: Page, runId: string): Promise<Response> =>
  onPage(page, `/v1/runs/${runId}/invocations/inv_1/compensate`, "POST");

const NOT_ALLOWED = [403, "undo_not_allowed"];

describe("a page undoes nothing", () => {
  test("with a tool that its assistant does not use any more, and is not offered it", async () => {
    const toolIds = [LEND, RETURN];
    await putAssistant("reading-room", { toolIds }, "bendable");
    const page = await openPage({ assistantId: "reading-room", toolIds });
    const runId = await call(page, LEND, { book: "Germinal" });
    const offered = async (): Promise<unknown> => {
      const state = await (await onPage(page, `/v1/runs/${runId}`)).json<RunState>();
      return state.toolCalls[0]?.undo?.status;
    };
    expect(await offered()).toBe("available");
    await putAssistant("reading-room", { toolIds: [LEND] }, "bendable");
    expect(await refusalOf(await undo(page, runId))).toEqual(NOT_ALLOWED);
    expect(await offered()).toBeUndefined();
    expect(library.happened).toEqual(["lent Germinal"]);
  });

  test("of a page that has connections which it has not", async () => {
    const secret = { kind: "bearer", token: "secret-of-library-0123456789" };
    await putConnection("library", secret, "bendable");
    const toolIds = [LEND, RETURN];
    const wide = await openPage({ toolIds, connectionIds: ["library"] });
    const narrow = await openPage({ toolIds, connectionIds: [] });
    const runId = await call(wide, LEND, { book: "Nana" });
    expect(await refusalOf(await undo(narrow, runId))).toEqual(NOT_ALLOWED);
    expect(library.happened).toEqual(["lent Nana"]);
    expect((await undo(wide, runId)).status).toBe(200);
  });

  test("in another workspace than its own", async () => {
    await governStudio({
      allowedTools: GAMEPLAN_IDS,
      origins: [HOST_PAGE],
      embedMinters: [{ actorId: "service:front" }],
      workspaces: { studio: { actors: ["user:ada"] }, private: { actors: ["user:ada"] } },
    });
    const toolIds = ["create_project", "discard", "list_projects"].map((id) => `gameplan__${id}`);
    const order = { actorId: "user:ada", toolIds };
    const open = (bound: object): Promise<Page> => openPage({ ...order, ...bound }, "front");
    const hidden = await open({ workspaceId: "private" });
    const shared = await open({ workspaceId: "studio" });
    const runId = await call(hidden, "gameplan__create_project", { name: "Secret" });
    expect(await refusalOf(await undo(shared, runId))).toEqual(NOT_ALLOWED);
    const { toolCalls } = await stateOf(runId, "ada");
    expect(toolCalls).toMatchObject([{ state: "COMPLETED", undo: { status: "available" } }]);
    expect((await undo(hidden, runId)).status).toBe(200);
  });
});

test("an approver cannot make an undo take back something else", async () => {
  const ship = { caller: "victor", key: "ship" } as const;
  const { runId } = await read(await invoke("lab__ship_book", { book: "Money" }, ship));
  const lent = { caller: "victor", key: "lend" } as const;
  await read(await invoke(LEND, { book: "Earth" }, lent));
  const path = `/v1/runs/${runId}/invocations/inv_1/compensate`;
  const asked = await read(await send(path, { caller: "victor", method: "POST" }));
  const [approvalId = ""] = openOf(asked as unknown as RunState);
  const edited = { ...APPROVE, arguments: { book: "Earth" } };
  const refused = await decide(approvalId, "victor", edited);
  expect(await refusalOf(refused)).toEqual([422, "arguments_refused"]);
  expect(await viewOf(approvalId, "victor")).toMatchObject({ status: "pending" });
  const same = { ...APPROVE, arguments: { book: "Money" } };
  expect((await decide(approvalId, "victor", same)).status).toBe(200);
  await untilState(runId, { toolCalls: [{ state: "COMPENSATED" }] }, "victor");
  expect(library.happened).toEqual(["lent Money", "lent Earth", "returned Money"]);
});

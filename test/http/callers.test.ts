import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { releaseUrl, script } from "../fakes/scripted-model.ts";
import { readAudit } from "../shared/audit-pages.ts";
import { putAssistant, seenBy } from "../shared/assistants.ts";
import {
  APPROVE,
  askFor,
  callOf,
  changeGuildPolicy,
  decide,
  ended,
  useApprovalLab,
} from "../shared/people.ts";
import {
  HOST_PAGE,
  govern,
  postChat,
  putPolicy,
  runIdOf,
  send,
  type Caller,
} from "../shared/worker.ts";
import { GUILD_POLICY, moved } from "../workers/lab-approvals.ts";

useApprovalLab();

const ARCHIVE = callOf("lab__archive", { what: "a" });
const OPEN = {
  allowedTools: ["lab__archive", "lab__peek", "lab__notify"],
  delegations: [
    { actorId: "user:aide", subjectId: "user:ann", tools: ["lab__archive"] },
    { actorId: "agent:scribe", subjectId: "user:ann", tools: ["lab__archive"] },
  ],
};

beforeAll(() => putAssistant("desk", { instructions: "Help.", model: "scripted" }, "chief"));
afterAll(() => changeGuildPolicy(GUILD_POLICY));

/** Has the model call the tool by its name, whatever it was shown. */
async function tryIt(caller: Caller, assistantId?: string) {
  moved.length = 0;
  const content = script({ calls: [ARCHIVE] }, { text: ["done"] });
  const named = assistantId === undefined ? {} : { assistantId };
  const response = await postChat({ messages: [{ role: "user", content }], ...named }, caller);
  const runId = runIdOf(response);
  const { toolCalls } = await ended(runId, caller);
  return { runId, ran: [...moved], outcome: toolCalls[0]?.outcome };
}

/** Names the tools that the model of a run is shown. */
async function shownTo(caller: Caller, named: object = {}): Promise<readonly string[]> {
  const messages = [{ role: "user", content: "echo" }];
  const { tools = [] } = await seenBy(await postChat({ messages, ...named }, caller));
  return tools.map((tool) => tool.function.name);
}

async function listedFor(caller: Caller): Promise<readonly string[]> {
  const listed = await send("/v1/tools", { caller });
  const { tools } = await listed.json<{ tools: readonly { name: string }[] }>();
  return tools.map(({ name }) => name);
}

const ONLY = { tools: ["lab__archive"] };

describe("a tool runs, and is shown, exactly where its rules about callers are met", () => {
  test.each<[string, readonly object[], Caller, boolean]>([
    ["of another tool", [{ tools: ["lab__peek"], roles: ["operator"] }], "ann", true],
    ["for a role that the caller lacks", [{ ...ONLY, roles: ["operator"] }], "ann", false],
    ["for one of the caller's roles", [{ ...ONLY, roles: ["clerk", "operator"] }], "eve", true],
    ["for a class", [{ classes: ["MEDIUM_RISK_WRITE"], roles: ["operator"] }], "ann", false],
    ["for an effect", [{ effects: ["state_change"], actors: ["user:eve"] }], "ann", false],
    ["for every tool", [{ roles: ["operator"] }], "ann", false],
    ["that names the caller", [{ ...ONLY, actors: ["user:ann"] }], "ann", true],
    ["that names others", [{ ...ONLY, actors: ["user:ann", "USER:EVE"] }], "eve", false],
    [
      "for role and name, of which one is missing",
      [{ roles: ["operator"], actors: ["user:ann"] }],
      "ann",
      false,
    ],
    ["beside one that is met", [{ roles: ["operator"] }, { actors: ["user:ann"] }], "eve", false],
    ["for assistants, and another one is asked", [{ ...ONLY, assistants: ["desk"] }], "ann", false],
    ["that names the agent alone", [{ ...ONLY, actors: ["agent:scribe"] }], "scribe", false],
    [
      "that names the person of an agent alone",
      [{ ...ONLY, actors: ["user:ann"] }],
      "scribe",
      false,
    ],
    ["that names both", [{ ...ONLY, actors: ["agent:scribe", "user:ann"] }], "scribe", true],
    [
      "for a role of somebody who acts for a person",
      [{ ...ONLY, roles: ["operator"] }],
      "aide",
      false,
    ],
    [
      "for such a role, and names both",
      [{ ...ONLY, roles: ["operator"], actors: ["user:aide", "user:ann"] }],
      "aide",
      true,
    ],
  ])("%s", async (_, callers, caller, may) => {
    await changeGuildPolicy({ ...OPEN, callers });
    const { ran, outcome } = await tryIt(caller);
    expect([ran, outcome]).toEqual(may ? [["archived: a"], "SUCCESS"] : [[], "PERMISSION_DENIED"]);
    expect((await shownTo(caller)).includes("lab__archive")).toBe(may);
    const isByAssistant = callers.some((rule) => "assistants" in rule);
    expect((await listedFor(caller)).includes("lab__archive")).toBe(may || isByAssistant);
  });
});

describe("a rule about callers", () => {
  test("for an assistant is met in its runs, and by no body that a client sends", async () => {
    await changeGuildPolicy({ ...OPEN, callers: [{ ...ONLY, assistants: ["desk"] }] });
    expect((await tryIt("ann", "desk")).ran).toEqual(["archived: a"]);
    expect(await shownTo("ann", { assistantId: "desk" })).toContain("lab__archive");
    const path = "/v1/tools/lab__archive/invoke";
    const ask = (more: object): Promise<Response> =>
      send(path, {
        caller: "ann",
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": crypto.randomUUID() },
        body: JSON.stringify({ arguments: { what: "a" }, ...more }),
      });
    moved.length = 0;
    expect((await ask({})).status).toBe(404);
    expect((await ask({ assistantId: "desk" })).status).toBe(422);
    expect(moved).toEqual([]);
  });

  test("refuses by its own gate, before the arguments are read", async () => {
    await changeGuildPolicy({ ...OPEN, callers: [{ roles: ["operator"] }] });
    const { runId } = await tryIt("ann");
    await expect
      .poll(async () => {
        const { records } = await readAudit(`?run=${runId}&limit=100`, "chief");
        return records.flatMap(({ entry }) => entry.gates ?? []);
      })
      .toEqual([{ passed: ["lookup", "still_wanted", "policy"], refusedBy: "caller" }]);
  });
});

describe("a caller without the role", () => {
  beforeAll(() => changeGuildPolicy({ ...OPEN, callers: [{ ...ONLY, roles: ["operator"] }] }));

  test("finds the tool nowhere: it answers like an unknown one", async () => {
    const headers = { "content-type": "application/json", "idempotency-key": "callers-1" };
    const init = {
      caller: "ann",
      method: "POST",
      headers,
      body: '{"arguments":{"what":"a"}}',
    } as const;
    const answers = ["lab__archive", "lab__nothing"].map(async (id) => {
      const asked = await send(`/v1/tools/${id}/invoke`, init);
      const read = await send(`/v1/tools/${id}`, { caller: "ann" });
      const named = await postChat(
        { messages: [{ role: "user", content: "x" }], toolIds: [id] },
        "ann",
      );
      return [asked.status, await asked.text(), read.status, await read.text(), named.status];
    });
    const [denied, unknown] = await Promise.all(answers);
    expect([denied, denied?.[0]]).toEqual([unknown, 404]);
    expect((await send("/v1/tools/lab__archive", { caller: "eve" })).status).toBe(200);
    expect(moved).toEqual([]);
  });

  test.each([
    { roles: ["operator"] },
    { principal: { roles: ["operator"] } },
    { actorId: "user:eve" },
  ])("cannot claim one in a body: %j", async (forged) => {
    moved.length = 0;
    const content = script({ calls: [ARCHIVE] }, { text: ["done"] });
    const answer = await postChat({ messages: [{ role: "user", content }], ...forged }, "ann");
    expect([answer.status, moved]).toEqual([422, []]);
  });

  test("gains nothing by going on with a run of somebody who has it", async () => {
    const { runId } = await tryIt("eve");
    const messages = [{ role: "user", content: script({ calls: [ARCHIVE] }, { text: ["done"] }) }];
    const foreign = await postChat({ messages, previousRunId: runId }, "ann");
    expect([foreign.status, moved]).toEqual([404, ["archived: a"]]);
  });
});

test("a model and a caller are shown no tool that the caller cannot use", async () => {
  await changeGuildPolicy({
    allowedTools: [
      "lab__archive",
      "lab__notify",
      { id: "lab__peek", scopes: ["records:read"] },
      { id: "lab__publish", scopes: ["tools:read"] },
      "lab__call_service",
      "lab__show_account",
      "lab__greet",
    ],
    delegations: [{ actorId: "agent:scribe", subjectId: "user:ann", tools: ["lab__notify"] }],
    grants: [
      { connectionId: "service", tools: ["lab__call_service"], actors: ["user:ann"] },
      { connectionId: "service", tools: ["lab__show_account"], expiresAt: "2020-01-01T00:00:00Z" },
    ],
  });
  const always = ["lab__archive", "lab__notify", "lab__publish", "lab__greet"].toSorted();
  const withService = [...always, "lab__call_service"].toSorted();
  const named = { connectionIds: ["service"] };
  expect((await shownTo("ann")).toSorted()).toEqual(always);
  expect((await shownTo("ann", named)).toSorted()).toEqual(withService);
  expect((await shownTo("eve", named)).toSorted()).toEqual(always);
  expect(await shownTo("scribe", named)).toEqual(["lab__notify"]);
  expect((await listedFor("ann")).toSorted()).toEqual(withService);
  expect((await listedFor("eve")).toSorted()).toEqual(always);
  expect(await listedFor("scribe")).toEqual(["lab__notify"]);
});

describe("a rule that comes after the proposal", () => {
  const NOTIFY = { tools: ["lab__notify"] };

  test.each([
    ["asks for a role", { ...NOTIFY, roles: ["operator"] }],
    ["names others", { effects: ["external_side_effect"], actors: ["user:eve"] }],
    ["asks for an assistant", { ...NOTIFY, assistants: ["desk"] }],
  ])("and %s ends the call, and no vote answers approved", async (_, rule) => {
    await changeGuildPolicy(OPEN);
    const { runId, approvalId } = await askFor([callOf("lab__notify", { what: "hi" })], "ann");
    await changeGuildPolicy({ ...OPEN, callers: [rule] });
    expect((await decide(approvalId, "ann", APPROVE)).status).toBe(409);
    const { toolCalls } = await ended(runId);
    expect([toolCalls[0]?.outcome, moved]).toEqual(["PERMISSION_DENIED", []]);
  });

  test("and is taken away meanwhile widens no run: the pinned policy is its ceiling", async () => {
    await changeGuildPolicy({ ...OPEN, callers: [{ ...ONLY, roles: ["operator"] }] });
    const holds = "callers-pinned";
    const content = script({ text: ["Wait"], calls: [ARCHIVE], holds }, { text: ["done"] });
    const response = await postChat({ messages: [{ role: "user", content }] }, "ann");
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    while (!(await reader?.read())?.value?.includes("Wait"));
    await changeGuildPolicy(OPEN);
    await fetch(releaseUrl(holds));
    const { toolCalls } = await ended(runIdOf(response));
    expect([toolCalls[0]?.outcome, moved]).toEqual(["PERMISSION_DENIED", []]);
  });
});

describe("a page's token", () => {
  const order = { origin: HOST_PAGE, actorId: "user:victor", toolIds: ["lab__archive"] };
  const minted = (roles: readonly string[]): Promise<Response> =>
    send("/v1/embed-tokens", {
      caller: "desk",
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...order, roles }),
    });

  test("uses the tool with the role that it was minted with, and is not minted without", async () => {
    await govern({
      allowedTools: ["lab__archive"],
      origins: [HOST_PAGE],
      callers: [{ ...ONLY, roles: ["operator"] }],
      embedMinters: [{ actorId: "service:desk", roles: ["operator", "reader"] }],
    });
    const refused = await minted(["reader"]);
    expect([refused.status, await refused.json()]).toMatchObject([
      422,
      { code: "embed_token_unusable", errors: [{ pointer: "/toolIds/0" }] },
    ]);
    const { token } = await (await minted(["operator"])).json<{ token: string }>();
    const response = await send("/v1/tools/lab__archive/invoke", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${token}`,
        origin: HOST_PAGE,
        "idempotency-key": "callers-page",
      },
      body: '{"arguments":{"what":"page"}}',
    });
    expect([response.status, moved.at(-1)]).toEqual([200, "archived: page"]);
  });
});

test.each([
  [
    "an unknown tool",
    { tools: ["lab__archive", "lab__nothing"], roles: ["x"] },
    "/callers/0/tools/1",
  ],
  ["nobody at all", { tools: ["lab__archive"] }, "/callers/0"],
  ["no role", { roles: [] }, "/callers/0/roles"],
  ["an assistant that cannot exist", { assistants: ["a b"] }, "/callers/0/assistants/0"],
])("a rule that names %s is refused with its place", async (_, rule, pointer) => {
  const etag = (await send("/v1/policy", { caller: "chief" })).headers.get("etag") ?? "";
  const headers = { caller: "chief" as const, "if-match": etag };
  const answer = await putPolicy({ ...OPEN, callers: [rule] }, headers);
  expect([answer.status, await answer.json()]).toMatchObject([422, { errors: [{ pointer }] }]);
});

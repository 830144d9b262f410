import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { SHOP, type Visit } from "../fakes/shop.ts";
import { readAudit } from "../shared/audit-pages.ts";
import { putAssistant, seenBy } from "../shared/assistants.ts";
import { APPROVE, callOf, decide, openOf, viewOf } from "../shared/people.ts";
import { untilState } from "../shared/run-object.ts";
import { govern, postChat, putPolicy, runIdOf, send, type Caller } from "../shared/worker.ts";
import { moved } from "../workers/lab-approvals.ts";

const TOOLS = ["core__calculate", "lab__archive", "lab__order", "lab__sum_and_order"];
const PEOPLE = {
  delegations: [{ actorId: "agent:helper", subjectId: "user:victor", tools: TOOLS }],
};
/** Its data is public; that of the others is internal. */
const SUM = callOf("core__calculate", { expression: "6*7" }, "sum");
const ARCHIVE = callOf("lab__archive", { what: "a" }, "archive");
/** It reaches shop.test. */
const ORDER = callOf("lab__order", { what: "tea" }, "order");

beforeAll(() => putAssistant("desk", { instructions: "Help." }, "bendable"));
beforeEach(async () => {
  moved.length = 0;
  await visits();
});

async function visits(): Promise<number> {
  return (await (await fetch(`${SHOP}/visits`)).json<readonly Visit[]>()).length;
}

const limit = (dataClasses: object): Promise<void> =>
  govern({ allowedTools: TOOLS, ...PEOPLE, dataClasses, regions: REGIONS });
const REGIONS = {
  eu: { models: ["scripted", "cheap"], upstreams: ["shop.test"] },
  us: { models: ["dear"] },
};

type Call = NonNullable<ScriptedStep["calls"]>[number];

interface Told {
  readonly caller?: Caller;
  readonly [named: string]: unknown;
}

/** Has the model make calls by name, one step each, whatever it was shown. */
async function tryAll(
  calls: readonly (readonly Call[])[],
  { caller = "bendable", ...named }: Told,
) {
  const content = script(...calls.map((step) => ({ calls: step })), { text: ["done"] });
  const response = await postChat({ messages: [{ role: "user", content }], ...named }, caller);
  const runId = runIdOf(response);
  await response.text();
  const { toolCalls, error } = await untilState(runId, {}, caller);
  return { runId, outcomes: toolCalls.map(({ outcome }) => outcome), error: error?.code };
}

async function shownTo({ caller = "bendable", ...named }: Told): Promise<readonly string[]> {
  const messages = [{ role: "user", content: "echo" }];
  const { tools = [] } = await seenBy(await postChat({ messages, ...named }, caller));
  return tools.map((tool) => tool.function.name);
}

describe("a tool runs, and is shown, exactly where its data may go:", () => {
  test.each<[string, object, Told, boolean]>([
    ["to its model", { models: ["scripted"] }, {}, true],
    ["not to another model", { models: ["other"] }, {}, false],
    ["to no model", { models: [] }, {}, false],
    [
      "not to a model whose fallback may not see it",
      { models: ["cheap"] },
      { model: "cheap" },
      false,
    ],
    ["to a model and its fallback", { models: ["cheap", "dear"] }, { model: "cheap" }, true],
    ["to its assistant", { assistants: ["desk"] }, { assistantId: "desk" }, true],
    ["not to another assistant", { assistants: ["desk"] }, {}, false],
    ["to a caller with the role", { roles: ["x", "operator"] }, { caller: "mallory" }, true],
    ["not to a caller without it", { roles: ["operator"] }, { caller: "victor" }, false],
    [
      "not by an agent to a person whose roles nobody knows",
      { roles: ["operator"] },
      { caller: "victorsAgent" },
      false,
    ],
    ["to no service, and it reaches none", { upstreams: [] }, {}, true],
    ["into the region of its model", { regions: ["us", "eu"] }, {}, true],
    ["not into another region", { regions: ["us"] }, {}, false],
    ["not to a fallback in another region", { regions: ["eu"] }, { model: "cheap" }, false],
    ["not to a model that lies in no region", { regions: ["eu", "us"] }, { model: "other" }, false],
    [
      "not to a model of the region that is not listed",
      { regions: ["eu"], models: ["dear"] },
      {},
      false,
    ],
    ["not to a listed model elsewhere", { regions: ["us"], models: ["scripted"] }, {}, false],
    ["into no region", { regions: [] }, {}, false],
  ])("%s", async (_, internal, told, may) => {
    await limit({ internal });
    const { outcomes } = await tryAll([[ARCHIVE]], told);
    expect([outcomes, moved]).toEqual(
      may ? [["SUCCESS"], ["archived: a"]] : [["POLICY_VIOLATION"], []],
    );
    expect((await shownTo(told)).includes("lab__archive")).toBe(may);
  });

  test.each([
    ["to the service that it reaches", { upstreams: ["shop.test"] }, true],
    ["not to another service", { upstreams: ["shop", "SHOP.TEST"] }, false],
    ["to a service in its region", { regions: ["eu"] }, true],
    ["not to a service that lies in no region", { regions: ["eu"], upstreams: ["shop"] }, false],
  ])("%s", async (_, internal, may) => {
    await limit({ internal });
    await tryAll([[ORDER]], {});
    expect((await visits()) > 0).toBe(may);
    expect((await shownTo({})).includes("lab__order")).toBe(may);
  });

  test("to the person of a direct call, which no model and no assistant sees", async () => {
    await limit({ internal: { models: [], assistants: ["desk"] } });
    const direct = await send("/v1/tools/lab__archive/invoke", {
      caller: "bendable",
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": crypto.randomUUID() },
      body: '{"arguments":{"what":"mine"}}',
    });
    expect([direct.status, moved]).toEqual([200, ["archived: mine"]]);
  });
});

describe("what a model was shown", () => {
  test("goes to no service that its class may not reach, in no later step and no later run", async () => {
    await limit({ public: { upstreams: ["shop.test"], models: ["scripted"] } });
    const inside = await tryAll([[SUM], [ORDER]], {});
    expect(inside.outcomes).toEqual(["SUCCESS", "SUCCESS"]);
    await visits();
    await govern({
      allowedTools: TOOLS,
      dataClasses: { public: { regions: ["eu"] } },
      regions: { eu: { models: ["scripted"], upstreams: ["elsewhere.test"] } },
    });
    const { runId, outcomes } = await tryAll([[SUM], [ORDER]], {});
    expect([outcomes, await visits()]).toEqual([["SUCCESS", "POLICY_VIOLATION"], 0]);
    const later = await tryAll([[ORDER]], { previousRunId: runId });
    expect([later.outcomes, await visits()]).toEqual([["POLICY_VIOLATION"], 0]);
  });

  test("goes from step to step of a saga to no service that its class may not reach", async () => {
    const saga = callOf("lab__sum_and_order", { expression: "6*7" });
    await limit({ public: { upstreams: [] } });
    const { outcomes } = await tryAll([[saga]], {});
    expect([outcomes.includes("POLICY_VIOLATION"), await visits()]).toEqual([true, 0]);
    await limit({ public: { upstreams: ["shop.test"] } });
    expect((await tryAll([[saga]], {})).outcomes).not.toContain("POLICY_VIOLATION");
    expect(await visits()).toBeGreaterThan(0);
  });

  test("does not count for the calls of its own step, nor in another conversation", async () => {
    await limit({ public: { upstreams: [] } });
    expect((await tryAll([[SUM, ORDER]], {})).outcomes).toEqual(["SUCCESS", "SUCCESS"]);
    expect((await tryAll([[ORDER]], {})).outcomes).toEqual(["SUCCESS"]);
    // A refused call showed nothing.
    await limit({ public: { upstreams: [], models: [] } });
    const refused = await tryAll([[SUM], [ORDER]], {});
    expect(refused.outcomes).toEqual(["POLICY_VIOLATION", "SUCCESS"]);
  });

  test("is shown to no other model or assistant that goes on, which are not even asked", async () => {
    await limit({});
    let { runId: previousRunId } = await tryAll([[SUM]], {});
    await limit({ public: { models: ["scripted"], assistants: ["default"] } });
    for (const named of [{ model: "other" }, { assistantId: "desk" }]) {
      const seen = await tryAll([[ARCHIVE]], { ...named, previousRunId });
      previousRunId = seen.runId;
      expect([seen.error, seen.outcomes, moved]).toEqual(["data_not_allowed", [], []]);
    }
    const same = await tryAll([[ARCHIVE]], { previousRunId });
    expect([same.error, moved]).toEqual([undefined, ["archived: a"]]);
  });
});

test.each<[object, readonly string[]]>([
  [{ regions: REGIONS }, ["shop.test: in eu"]],
  [{ regions: { us: REGIONS.us } }, ["shop.test: in no region of the policy"]],
  [{}, []],
])(
  "an approval under %o names where the services lie that the call reaches",
  async (more, said) => {
    const approvals = [{ tools: ["lab__order"], pattern: "user_consent" }];
    await govern({ allowedTools: TOOLS, approvals, ...more });
    const content = script({ calls: [ORDER] }, { text: ["done"] });
    const runId = runIdOf(await postChat({ messages: [{ role: "user", content }] }, "victor"));
    const [approvalId = ""] = openOf(await untilState(runId, { status: "waiting" }, "victor"));
    const { lines } = await viewOf(approvalId, "victor");
    const shown = lines.filter(({ field }) => field === "jurisdiction").map(({ text }) => text);
    expect(shown).toEqual(said);
  },
);

test("a limit that comes after the proposal ends a call that waits", async () => {
  const asks = { allowedTools: TOOLS, requireApprovalForClasses: ["MEDIUM_RISK_WRITE"] };
  await govern(asks);
  const content = script({ calls: [ARCHIVE] }, { text: ["done"] });
  const runId = runIdOf(await postChat({ messages: [{ role: "user", content }] }, "victor"));
  const [approvalId = ""] = openOf(await untilState(runId, { status: "waiting" }, "victor"));
  await govern({ ...asks, dataClasses: { internal: { roles: ["operator"] } } });
  expect((await decide(approvalId, "victor", APPROVE)).status).toBe(409);
  const { toolCalls } = await untilState(runId, { status: "completed" }, "victor");
  expect([toolCalls[0]?.outcome, moved]).toEqual(["POLICY_VIOLATION", []]);
  await expect
    .poll(async () => {
      const { records } = await readAudit(`?run=${runId}&limit=100`, "bendable");
      return records.flatMap(({ entry }) => entry.gates?.refusedBy ?? []);
    })
    .toEqual(["data"]);
});

test.each([
  ["a class that does not exist", { privat: { models: [] } }, "/dataClasses/privat"],
  ["a limit that does not exist", { internal: { places: [] } }, "/dataClasses/internal/places"],
  [
    "a region that it does not name",
    { internal: { regions: ["toString"] } },
    "/dataClasses/internal/regions/0",
  ],
])("a policy with %s is refused with its place", async (_, dataClasses, pointer) => {
  const etag = (await send("/v1/policy", { caller: "bendable" })).headers.get("etag") ?? "";
  const document = { allowedTools: TOOLS, dataClasses };
  const answer = await putPolicy(document, { caller: "bendable", "if-match": etag });
  expect([answer.status, await answer.json()]).toMatchObject([422, { errors: [{ pointer }] }]);
});

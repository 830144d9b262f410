import { beforeAll, describe, expect, test } from "vitest";
import type { ApprovalView } from "../../../../src/protocol/approval/view.ts";
import policy from "../../../../tenant/policy.json";
import { GAMEPLAN_TOOLS } from "../../tools/pack.ts";
import { callTool, dataOf, governGameplan, type Data } from "../studio.ts";
import { APPROVE, callOf, decide, openOf } from "../../../../test/shared/people.ts";
import { chat, chunksOf, runIdOf, send, stateOf } from "../../../../test/shared/worker.ts";

let projectId = "";
beforeAll(async () => {
  await governGameplan();
  projectId = (await dataOf("ada", "create_project", { name: "Dungeon" })).project.id as string;
});

test("a row that changes while a person reads about its deletion stays", async () => {
  const fields = { projectId, name: "Combat", systemSlug: "combat" };
  const { system } = await dataOf("ada", "create_game_system", fields);
  const deletion = { systemId: system.id, revision: system.revision };
  const asked = await chat([{ calls: [callOf("gameplan__delete_game_system", deletion)] }], "ada");
  const runId = runIdOf(asked);
  await chunksOf(asked);
  const [approvalId = ""] = openOf(await stateOf(runId, "ada"));
  const change = { systemId: system.id, changeSummary: "More", purpose: "Fights that matter." };
  await dataOf("ben", "update_game_system", change);
  expect((await decide(approvalId, "ada", APPROVE)).status).toBe(409);
  const chunks = await chunksOf(await send(`/v1/runs/${runId}/events`, { caller: "ada" }));
  const result = chunks.findLast(({ type }) => type === "result")?.["result"];
  expect(result).toMatchObject({
    status: { taxonomy_class: "STALE_STATE" },
    result_payload: { errors: [{ code: "stale" }] },
  });
  const kept = await dataOf("ada", "get_game_system", { systemId: system.id });
  expect(kept.system.purpose).toBe("Fights that matter.");
});

describe("nobody is asked to approve what must fail", () => {
  const doomed = new Map<string, { readonly tool: string; readonly args: object }>();
  let draft: object;
  let held: { readonly systemId: string; readonly revision: number };

  beforeAll(async () => {
    const make = (tool: string, args: object): Promise<Data> => dataOf("ada", tool, args);
    const add = async (name: string): Promise<typeof held> => {
      const { system } = await make("create_game_system", { projectId, name, systemSlug: name });
      return { systemId: system.id, revision: system.revision };
    };
    const planOf = async (version: string, systemIds: readonly string[], more: object = {}) => {
      const scope = { projectId, version, systemIds, ...more };
      const { plan } = await make("create_version_plan", scope);
      return { planId: plan.id as string, revision: plan.revision as number };
    };
    const [swim, water, gone] = [await add("swim"), await add("water"), await add("gone")];
    held = await add("held");
    const link = { sourceSystemId: swim.systemId, targetSystemId: water.systemId };
    await make("add_dependency", { ...link, type: "requires" });
    const incomplete = await planOf("0.1", [swim.systemId], { allowIncomplete: true });
    const binned = await planOf("0.2", [gone.systemId]);
    const final = await planOf("0.3", [water.systemId]);
    const deleted = await planOf("0.4", [water.systemId]);
    draft = await planOf("0.5", [held.systemId]);
    const { plan } = await make("finalize_version_plan", final);
    const finalized = { ...final, revision: plan.revision as number };
    const { binItem } = await make("delete_game_system", gone);
    const { binItem: plan4 } = await make("delete_version_plan", deleted);
    for (const [what, tool, args] of [
      ["a plan without what its systems require", "finalize_version_plan", incomplete],
      ["a plan with a system in the bin", "finalize_version_plan", binned],
      ["a plan that is final", "finalize_version_plan", finalized],
      ["the deletion of a final plan", "delete_version_plan", finalized],
      ["a deleted plan", "delete_version_plan", { ...deleted, revision: plan4.revision }],
      ["a deleted system", "delete_game_system", { ...gone, revision: binItem.revision }],
    ] as const) {
      doomed.set(what, { tool, args });
    }
  });

  test.each([
    ["a plan without what its systems require", "validation"],
    ["a plan with a system in the bin", "validation"],
    ["a plan that is final", "conflict"],
    ["the deletion of a final plan", "conflict"],
    ["a deleted plan", "not_found"],
    ["a deleted system", "not_found"],
  ])("%s", async (what, code) => {
    const { tool = "", args = {} } = doomed.get(what) ?? {};
    const changes = async (): Promise<unknown> =>
      (await dataOf("ada", "get_project_activity", { projectId })).total;
    const before = await changes();
    const { asked, result_payload: payload } = await callTool("ada", tool, args);
    expect([asked, payload.errors[0]?.code, await changes()]).toEqual([false, code, before]);
  });

  test("what becomes impossible meanwhile closes the question with its reason", async () => {
    const call = callOf("gameplan__finalize_version_plan", draft);
    const waiting = await chat([{ calls: [call] }, {}], "ada");
    const runId = runIdOf(waiting);
    await chunksOf(waiting);
    const [approvalId = ""] = openOf(await stateOf(runId, "ada"));
    const look = async () =>
      (await send(`/v1/approvals/${approvalId}`, { caller: "ada" })).json<ApprovalView>();
    expect(await look()).toMatchObject({ status: "pending" });
    await dataOf("ada", "delete_game_system", held);
    // Nobody votes: a look is enough.
    const closed = await look();
    expect(closed).toMatchObject({ status: "withdrawn", votes: [] });
    expect(closed.withdrawnBecause).toContain("is in the bin");
    const chunks = await chunksOf(await send(`/v1/runs/${runId}/events`, { caller: "ada" }));
    expect(chunks.findLast(({ type }) => type === "result")?.["result"]).toMatchObject({
      status: { taxonomy_class: "SEMANTIC_INVALIDITY" },
      result_payload: { errors: [{ code: "validation" }] },
    });
  });
});

test("a deletion or a finalization that names no revision asks nobody", async () => {
  for (const [tool, id] of [
    ["delete_project", "projectId"],
    ["delete_game_system", "systemId"],
    ["delete_brainstorm", "brainstormId"],
    ["delete_version_plan", "planId"],
    ["finalize_version_plan", "planId"],
  ] as const) {
    const { status, asked } = await callTool("ada", tool, { [id]: projectId });
    expect([tool, asked, status.taxonomy_class]).toEqual([tool, false, "STRUCTURAL_VIOLATION"]);
  }
});

describe("after texts that others wrote", () => {
  const SEEN = [{ kind: "tool", tool: "gameplan__list_projects", call: "read" }];
  /** Lets the model read the projects, then make a call; tells after what people are asked. */
  async function afterReading(tool: string, args: object) {
    const read = callOf("gameplan__list_projects", {}, "read");
    const call = callOf(`gameplan__${tool}`, args, "act");
    const response = await chat([{ calls: [read] }, { calls: [call] }, {}], "ada");
    const runId = runIdOf(response);
    await chunksOf(response);
    const state = await stateOf(runId, "ada");
    const [approvalId] = openOf(state);
    const path = `/v1/approvals/${approvalId}`;
    const asked = approvalId === undefined ? undefined : await send(path, { caller: "ada" });
    const view = await asked?.json<ApprovalView>();
    if (approvalId !== undefined) {
      await send(`/v1/runs/${runId}/cancel`, { caller: "ada", method: "POST" });
    }
    return { ended: state.toolCalls.at(-1), shown: view?.packet.after };
  }

  test("what stays in the workspace and can be taken back runs, and says after what", async () => {
    const fields = { projectId, name: "Weather", systemSlug: "weather" };
    const made = await afterReading("create_game_system", fields);
    expect(made).toMatchObject({
      ended: {
        state: "COMPLETED",
        undo: { status: "available" },
        after: SEEN,
      },
      shown: undefined,
    });
  });

  test("a deletion and a finalization ask, and the question says after what", async () => {
    const fields = { projectId, name: "Sound", systemSlug: "sound" };
    const { system } = await dataOf("ada", "create_game_system", fields);
    const deletion = { systemId: system.id, revision: system.revision };
    const asked = await afterReading("delete_game_system", deletion);
    expect(asked).toMatchObject({ ended: { state: "PENDING" }, shown: SEEN });
  });

  test("each tool that a model may call is decided on purpose, by the policy of the product", () => {
    const asked = GAMEPLAN_TOOLS.filter(({ shownToModel, effect, sideEffectClass }) => {
      const rule = policy.dataFlow.afterUntrusted.find(
        ({ classes, effects }) =>
          (classes?.includes(sideEffectClass) ?? true) && (effects?.includes(effect) ?? true),
      );
      return shownToModel && effect !== "read_only" && rule?.decision !== "allow";
    });
    expect(asked.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        "gameplan__delete_brainstorm",
        "gameplan__delete_game_system",
        "gameplan__delete_project",
        "gameplan__delete_version_plan",
        "gameplan__finalize_threads_to_brainstorm",
        "gameplan__finalize_version_plan",
      ]),
    );
    expect(asked).toHaveLength(6);
  });
});

import { beforeAll, describe, expect, test } from "vitest";
import type { ApprovalView } from "../../../../src/protocol/approval/view.ts";
import policy from "../../../../tenant/policy.json";
import { GAMEPLAN_TOOLS } from "../../tools/pack.ts";
import { dataOf, callTool, governGameplan } from "../studio.ts";
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
  expect((await decide(approvalId, "ada", APPROVE)).status).toBe(200);
  const chunks = await chunksOf(await send(`/v1/runs/${runId}/events`, { caller: "ada" }));
  const result = chunks.findLast(({ type }) => type === "result")?.["result"];
  expect(result).toMatchObject({
    status: { taxonomy_class: "STALE_STATE" },
    result_payload: { errors: [{ code: "stale" }] },
  });
  const kept = await dataOf("ada", "get_game_system", { systemId: system.id });
  expect(kept.system.purpose).toBe("Fights that matter.");
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

import { beforeAll, expect, test } from "vitest";
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

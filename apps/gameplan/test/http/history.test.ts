import { beforeAll, expect, test } from "vitest";
import type { PromptHistoryEntry } from "../../../../src/protocol/audit/prompt-history.ts";
import { callTool, dataOf, governGameplan } from "../studio.ts";
import { send } from "../../../../test/shared/worker.ts";

beforeAll(() => governGameplan());

const history = async (): Promise<readonly PromptHistoryEntry[]> => {
  const response = await send("/v1/audit?view=prompt_history&limit=100", { caller: "ada" });
  return (await response.json<{ history: PromptHistoryEntry[] }>()).history;
};

test("the prompt history names the project of each call, where the call tells it", async () => {
  const projectId = (await dataOf("ada", "create_project", { name: "Dungeon" })).project.id;
  const system = { projectId, name: "Combat", systemSlug: "combat" };
  const systemId = (await dataOf("ada", "create_game_system", system)).system.id;
  await callTool("ada", "get_game_system", { systemId });
  await callTool("ada", "get_game_system", { systemId: "no-such" });
  // The log learns of a call after the stream of its run is closed.
  await expect.poll(async () => (await history()).length).toBe(4);
  const entries = await history();
  expect(entries.map((entry) => [entry.promptType, entry.projectId, entry.status])).toEqual([
    ["tool:gameplan__create_project", null, "completed"],
    ["tool:gameplan__create_game_system", projectId, "completed"],
    ["tool:gameplan__get_game_system", projectId, "completed"],
    ["tool:gameplan__get_game_system", null, "failed"],
  ]);
  expect(entries[1]).toMatchObject({
    promptTemplate: expect.stringContaining("system"),
    promptContext: { context: { actorId: "user:ada" }, mutationType: "state_change" },
    aiProvider: "tool_executor",
    aiModel: "n/a",
  });
});

import { beforeAll, expect, test } from "vitest";
import type { PromptHistoryEntry } from "../../../../src/protocol/audit/prompt-history.ts";
import { callTool, dataOf, governGameplan } from "../studio.ts";
import { send, stateOf, type Caller } from "../../../../test/shared/worker.ts";

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

test("a change names its call to its author alone, who can undo that very call", async () => {
  const projectId = (await dataOf("ada", "create_project", { name: "Garden" })).project.id;
  const system = { projectId, name: "Weather", systemSlug: "weather" };
  const { id: systemId, revision } = (await dataOf("ada", "create_game_system", system)).system;
  await dataOf("ada", "delete_game_system", { systemId, revision });
  const newestFor = async (caller: Caller) =>
    (await dataOf(caller, "get_project_activity", { projectId, limit: 1 })).items[0];
  const deleted = await newestFor("ada");
  expect(deleted).toMatchObject({ action: "deleted", entityId: systemId });
  expect(await newestFor("ben")).not.toHaveProperty("call");

  const { runId, toolCallId } = deleted.call;
  const callNow = async () =>
    (await stateOf(runId, "ada")).toolCalls.find((call) => call.toolCallId === toolCallId);
  const asked = await callNow();
  expect(asked).toMatchObject({ state: "COMPLETED", undo: { status: "available" } });
  const path = `/v1/runs/${runId}/invocations/${asked?.invocationId}/compensate`;
  expect((await send(path, { caller: "ben", method: "POST" })).status).toBe(404);
  expect((await send(path, { caller: "ada", method: "POST" })).status).toBe(200);
  await expect.poll(callNow).toMatchObject({ state: "COMPENSATED", undo: { status: "undone" } });
  expect(await newestFor("ada")).toMatchObject({ action: "restored", entityId: systemId });
});

import { beforeAll, expect, test } from "vitest";
import type { PromptHistoryEntry } from "../../../../src/protocol/audit/prompt-history.ts";
import { callTool, dataOf, governGameplan } from "../studio.ts";
import { invoke, read } from "../../../../test/shared/invoke.ts";
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
    ["tool:gameplan__create_project", projectId, "completed"],
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

test("an edit by hand is one call under its key, and its Undo brings the row back", async () => {
  const projectId = (await dataOf("ada", "create_project", { name: "Harbour" })).project.id;
  const { thread } = await dataOf("ada", "create_idea_thread", { projectId, title: "Ships" });
  const { id, revision } = thread;
  const fields = { entity: "idea_thread", id, revision, title: "Boats" };
  const edit = async () =>
    read(await invoke("gameplan__edit_row", fields, { caller: "ada", key: '"boats"' }));
  const edited = await edit();
  expect([edited.status, (await edit()).runId]).toEqual([200, edited.runId]);
  const threads = async () => (await dataOf("ada", "list_idea_threads", { projectId })).items;
  expect(await threads()).toMatchObject([{ title: "Boats", revision: revision + 1 }]);
  const [call] = (await stateOf(edited.runId, "ada")).toolCalls;
  const path = `/v1/runs/${edited.runId}/invocations/${call?.invocationId}/compensate`;
  expect((await send(path, { caller: "ada", method: "POST" })).status).toBe(200);
  await expect.poll(threads).toMatchObject([{ title: "Ships" }]);
  const { items } = await dataOf("ada", "get_project_activity", { projectId, limit: 2 });
  expect(items.map(({ summary }: { summary: string }) => summary)).toEqual([
    'Reverted the newest change of idea thread "Boats"',
    'Edited title of idea thread "Boats"',
  ]);
});

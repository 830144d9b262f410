import { expect, test } from "vitest";
import { discard } from "../../tools/bin/discard.ts";
import { createBrainstorm } from "../../tools/brainstorm/create-brainstorm.ts";
import { createGameSystem } from "../../tools/game-system/create-game-system.ts";
import { deleteGameSystem } from "../../tools/game-system/delete-game-system.ts";
import { createIdeaThread } from "../../tools/idea-stream/create-idea-thread.ts";
import { postIdeaMessage } from "../../tools/idea-stream/post-idea-message.ts";
import { createProject } from "../../tools/project/create-project.ts";
import { searchProject } from "../../tools/project/search-project.ts";
import { createPlan } from "./create-plan.ts";
import { startProject } from "./start-project.ts";

test("a search finds each kind of row, with the place of the match, and nothing of others", () => {
  const { workspace, projectId, ids } = startProject("Dragons", "Movement");
  const far = `${"x".repeat(200)} where the 100% DRAGON sleeps ${"y".repeat(200)}`;
  workspace.call(createGameSystem, { projectId, name: "Lair", systemSlug: "lair", inputs: far });
  const [combat = "", movement = ""] = ids;
  createPlan(workspace, { projectId, version: "dragon-1", systemIds: [combat, movement] });
  const { thread } = workspace.call(createIdeaThread, { projectId, title: "Dragon", text: "No" });
  workspace.call(postIdeaMessage, { threadId: thread.id, text: "A dragon?" });
  const outputs = [{ kind: "decision" as const, text: "One dragon" }];
  workspace.call(createBrainstorm, { projectId, title: "Day", content: "Notes", outputs });
  const other = workspace.call(createProject, { name: "Other" }).project.id;
  workspace.call(createIdeaThread, { projectId: other, title: "Dragon of others" });
  const search = (text: string) => workspace.call(searchProject, { projectId, text });
  const { items, more } = search("dragon");
  expect(items.map(({ entity, name, field }) => [entity, name, field])).toEqual([
    ["system", "Lair", "inputs"],
    ["system", "Dragons", "name"],
    ["version_plan", "dragon-1", "version"],
    ["idea_thread", "Dragon", "title"],
    ["idea_message", "Dragon", "text"],
    ["brainstorm", "Day", "results"],
  ]);
  expect(more).toEqual([]);
  expect(items[0]?.excerpt).toHaveLength(160);
  expect(items[0]?.excerpt).toContain("where the 100% DRAGON sleeps");
  expect(items[4]).toMatchObject({ threadId: thread.id, number: 2, excerpt: "A dragon?" });
  // No letter of a text is a pattern.
  expect(search("100%").items).toHaveLength(1);
  expect(search("'_%").items).toEqual([]);
  const message = { entity: "idea_message" as const, id: items[4]?.id ?? "", revision: 1 };
  workspace.call(discard, message);
  workspace.call(deleteGameSystem, { systemId: combat, revision: 1 });
  expect(search("dragon").items.map(({ entity }) => entity)).toEqual([
    "system",
    "version_plan",
    "idea_thread",
    "brainstorm",
  ]);
  const stranger = { projectId, text: "dragon" };
  expect(workspace.refusal(searchProject, stranger, "user:eve", "other")).toBe("not_found");
});

test("a search answers the newest rows of each kind, and says that there are more", () => {
  const { workspace, projectId } = startProject();
  const { thread } = workspace.call(createIdeaThread, { projectId, title: "Talk", text: "Old" });
  workspace.fill(`
    WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 2001)
    INSERT INTO messages (id, project_id, revision, created_at, created_by, thread_id, number, text)
    SELECT 'm' || i, '${projectId}', 1, 0, 'user:ann', '${thread.id}', i, 'New ' || i FROM n`);
  workspace.rowsRead = 0;
  const { items, more } = workspace.call(searchProject, { projectId, text: "new" });
  expect(items.map(({ excerpt }) => excerpt).slice(0, 2)).toEqual(["New 2001", "New 2000"]);
  expect([items.length, more]).toEqual([10, ["idea_message"]]);
  expect(workspace.rowsRead).toBeLessThan(20);
  // Older messages than the newest 2,000 are not looked at.
  expect(workspace.call(searchProject, { projectId, text: "old" }).items).toEqual([]);
});

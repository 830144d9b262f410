import { expect, test } from "vitest";
import { discard } from "../../tools/bin/discard.ts";
import { editRow } from "../../tools/bin/edit-row.ts";
import { emptyBin } from "../../tools/bin/empty-bin.ts";
import { restore } from "../../tools/bin/restore.ts";
import { revert } from "../../tools/bin/revert.ts";
import { getBoard } from "../../tools/board/get-board.ts";
import { createBrainstorm } from "../../tools/brainstorm/create-brainstorm.ts";
import { getBrainstorm } from "../../tools/brainstorm/get-brainstorm.ts";
import { deleteGameSystem } from "../../tools/game-system/delete-game-system.ts";
import { createIdeaThread } from "../../tools/idea-stream/create-idea-thread.ts";
import { getThreadMessages } from "../../tools/idea-stream/get-thread-messages.ts";
import { lockThreads } from "../../tools/idea-stream/lock-threads.ts";
import { mergeThreads } from "../../tools/idea-stream/merge-threads.ts";
import { deleteProject } from "../../tools/project/delete-project.ts";
import { getProjectActivity } from "../../tools/project/get-project-activity.ts";
import { finalizeVersionPlan } from "../../tools/version-plan/finalize-version-plan.ts";
import { getVersionPlan } from "../../tools/version-plan/get-version-plan.ts";
import { createPlan } from "./create-plan.ts";
import { startProject } from "./start-project.ts";

/** A project with one of each kind of row that people edit. */
function startEdits() {
  const { workspace, projectId, ids } = startProject("Combat", "Movement", "Physics");
  const { plan } = createPlan(workspace, { projectId, version: "0.1", systemIds: ids });
  createPlan(workspace, { projectId, version: "0.2", systemIds: ids });
  const { thread } = workspace.call(createIdeaThread, { projectId, title: "Boss", text: "One" });
  const notes = { projectId, title: "Day one", content: "- swords", tags: ["combat"] };
  const { brainstorm } = workspace.call(createBrainstorm, notes);
  const messages = () => workspace.call(getThreadMessages, { threadId: thread.id });
  const message = messages().items[0]?.id ?? "";
  const edge = () => workspace.call(getBoard, { projectId }).edges[0];
  const dependency = edge()?.id ?? "";
  const read = {
    idea_thread: () => messages().thread,
    idea_message: () => messages().items[0],
    brainstorm: () => workspace.call(getBrainstorm, { brainstormId: brainstorm.id }).brainstorm,
    version_plan: () => workspace.call(getVersionPlan, { planId: plan.id }).plan,
    dependency: () => edge(),
  };
  const rows = { idea_thread: thread.id, idea_message: message, brainstorm: brainstorm.id };
  return { workspace, projectId, ids, read, rows: { ...rows, version_plan: plan.id, dependency } };
}

type Edited = keyof ReturnType<typeof startEdits>["rows"];

test("each kind of row is edited as one change, and the newest change comes back whole", () => {
  const { workspace, projectId, ids, read, rows } = startEdits();
  const [combat = "", movement = "", physics = ""] = ids;
  const edits: [Edited, fields: object, line: string][] = [
    ["idea_thread", { title: "Bosses", status: "finalized" }, "title, state of idea thread"],
    ["idea_thread", { status: "open" }, "state of idea thread"],
    ["idea_message", { text: "Two" }, "text of idea message"],
    ["dependency", { type: "optional" }, "kind of dependency"],
    [
      "brainstorm",
      { title: "Day 1", tags: [], content: "More", outputs: [{ kind: "decision", text: "No" }] },
      "title, tags, results, notes of brainstorm",
    ],
    [
      "version_plan",
      {
        version: "0.3",
        goal: "Fight",
        phases: [
          { name: "Base", systemIds: [physics] },
          { name: "Play", systemIds: [movement, combat] },
        ],
      },
      "version, goal, phases of version plan",
    ],
    ["version_plan", { phases: [{ name: "Less", systemIds: [combat] }] }, "phases of version plan"],
  ];
  for (const [entity, fields, line] of edits) {
    const id = rows[entity];
    const before = read[entity]();
    const revision = before?.revision ?? 0;
    const edit = () => ({ entity, id, revision, ...fields });
    const changed = workspace.call(editRow, edit());
    expect(workspace.refusal(editRow, edit())).toBe("stale");
    const after = read[entity]();
    expect(after).not.toEqual(before);
    const back = { entity, id, revision: changed.revision };
    expect(workspace.refusal(revert, { ...back, revision })).toBe("stale");
    workspace.call(revert, back);
    expect({ ...read[entity](), revision }).toEqual(before);
    workspace.call(editRow, { ...edit(), revision: changed.revision + 1 });
    expect({ ...read[entity](), revision: changed.revision }).toEqual(after);
    const { items } = workspace.call(getProjectActivity, { projectId, limit: 1 });
    expect(items[0]?.summary).toContain(`Edited ${line} "`);
  }
  expect(read.version_plan()).toMatchObject({ version: "0.3", systems: 1 });
});

test("an edit that the state forbids is refused, and so is its return", () => {
  const { workspace, projectId, ids, rows } = startEdits();
  const [combat = "", movement = "", physics = ""] = ids;
  const refused = (entity: Edited, fields: object, person?: string) =>
    workspace.refusal(editRow, { entity, id: rows[entity], revision: 1, ...fields }, person);
  expect(refused("idea_message", { title: "Boss" })).toBe("validation");
  expect(refused("idea_thread", {})).toBe("validation");
  expect(refused("idea_message", { text: "Not mine" }, "user:bob")).toBe("forbidden");
  expect(refused("version_plan", { version: "0.2" })).toBe("conflict");
  const phases = (...sets: string[][]) => ({
    phases: sets.map((systemIds, n) => ({ name: `Phase ${n + 1}`, systemIds })),
  });
  expect(refused("version_plan", phases([combat], [movement]))).toBe("validation");
  expect(refused("version_plan", phases([combat, combat]))).toBe("validation");
  expect(refused("version_plan", phases(["nowhere"]))).toBe("not_found");
  // A system in the bin leaves the plan with the next edit, and comes back with its return.
  workspace.call(deleteGameSystem, { systemId: physics, revision: 1 });
  const plan = { entity: "version_plan" as const, id: rows.version_plan };
  workspace.call(editRow, { ...plan, revision: 1, ...phases([movement, combat]) });
  workspace.call(revert, { ...plan, revision: 2 });
  expect(workspace.call(getVersionPlan, { planId: plan.id }).plan).toMatchObject({ systems: 3 });
  workspace.call(editRow, { ...plan, revision: 3, ...phases([movement, combat]) });
  workspace.call(finalizeVersionPlan, { planId: plan.id, revision: 4 });
  expect(workspace.refusal(editRow, { ...plan, revision: 5, goal: "x" })).toBe("conflict");
  // What was said before a thread became a brainstorm stays.
  const message = { entity: "idea_message" as const, id: rows.idea_message };
  workspace.call(editRow, { ...message, revision: 1, text: "Two" });
  const threads = { projectId, threadIds: [rows.idea_thread] };
  workspace.call(lockThreads, threads);
  expect(workspace.refusal(revert, { ...message, revision: 2 })).toBe("conflict");
  expect(workspace.refusal(discard, { ...message, revision: 2 })).toBe("conflict");
  workspace.call(mergeThreads, { ...threads, title: "Boss day" });
  const reopen = { entity: "idea_thread" as const, id: rows.idea_thread, revision: 2 };
  expect(workspace.refusal(editRow, { ...reopen, status: "open" })).toBe("conflict");
  workspace.call(editRow, { ...reopen, title: "Bosses" });
});

test("an edit to what was there already comes back like any other, and a creation does not", () => {
  const { workspace, ids, rows } = startEdits();
  const dependency = { entity: "dependency", id: rows.dependency } as const;
  workspace.call(editRow, { ...dependency, revision: 1, type: "requires" });
  expect(workspace.call(revert, { ...dependency, revision: 2 })).toMatchObject({ revision: 3 });
  const [id = ""] = ids;
  expect(workspace.refusal(revert, { entity: "system", id, revision: 1 })).toBe("conflict");
});

test("only its author sees that a message can change, deletes it, and gets it back", () => {
  const { workspace, rows } = startEdits();
  const read = (person: string) =>
    workspace.call(getThreadMessages, { threadId: rows.idea_thread }, person).items;
  expect(read("user:ann")[0]).toMatchObject({ text: "One", revision: 1 });
  expect(read("user:bob")[0]).not.toHaveProperty("revision");
  const message = { entity: "idea_message" as const, id: rows.idea_message };
  expect(workspace.refusal(discard, { ...message, revision: 1 }, "user:bob")).toBe("forbidden");
  workspace.call(discard, { ...message, revision: 1 });
  expect(read("user:ann")).toEqual([]);
  workspace.call(restore, message);
  expect(read("user:ann")).toMatchObject([{ text: "One" }]);
});

test("earlier texts of a row stay while the row does, and go with it", () => {
  const { workspace, projectId, rows } = startEdits();
  const thread = { entity: "idea_thread" as const, id: rows.idea_thread };
  workspace.call(editRow, { ...thread, revision: 1, title: "Bosses" });
  const message = { entity: "idea_message" as const, id: rows.idea_message, revision: 1 };
  workspace.call(discard, message);
  workspace.call(emptyBin, {});
  workspace.call(revert, { ...thread, revision: 2 });
  workspace.call(deleteProject, { projectId, revision: 1 });
  workspace.call(emptyBin, {});
  expect(workspace.count("changelog")).toBe(0);
});

import { expect, test } from "vitest";
import { arrangeSystems } from "../../tools/board/arrange-systems.ts";
import { getBoard } from "../../tools/board/get-board.ts";
import { emptyBin } from "../../tools/bin/empty-bin.ts";
import { restore } from "../../tools/bin/restore.ts";
import { revert } from "../../tools/bin/revert.ts";
import { getDependencyGraph } from "../../tools/dependency/get-dependency-graph.ts";
import { getImpactAnalysis } from "../../tools/dependency/get-impact-analysis.ts";
import { generateExport } from "../../tools/export/generate-export.ts";
import { exportData } from "../../tools/export/export-data.ts";
import { getExport } from "../../tools/export/get-export.ts";
import { createGameSystem } from "../../tools/game-system/create-game-system.ts";
import { deleteGameSystem } from "../../tools/game-system/delete-game-system.ts";
import { getGameSystem } from "../../tools/game-system/get-game-system.ts";
import { importSystem } from "../../tools/game-system/import-system.ts";
import { listGameSystems } from "../../tools/game-system/list-game-systems.ts";
import { updateGameSystem } from "../../tools/game-system/update-game-system.ts";
import { createProject } from "../../tools/project/create-project.ts";
import { deleteProject } from "../../tools/project/delete-project.ts";
import { getProject } from "../../tools/project/get-project.ts";
import { getProjectActivity } from "../../tools/project/get-project-activity.ts";
import { listProjects } from "../../tools/project/list-projects.ts";
import { updateProject } from "../../tools/project/update-project.ts";
import { startProject } from "./start-project.ts";

test("a project counts what is in it, and its activity tells who did what", () => {
  const { workspace, projectId } = startProject("Combat", "Movement");
  const { counts } = workspace.call(getProject, { projectId });
  expect(counts).toMatchObject({ systems: 2, dependencies: 1, draftPlans: 0 });
  const { items, total } = workspace.call(getProjectActivity, { projectId, limit: 1 });
  expect(total).toBe(4);
  expect(items[0]).toMatchObject({
    actor: "user:ann",
    action: "created",
    entity: "dependency",
    summary: "Added dependency: Combat requires Movement",
  });
  expect(workspace.announced).toContain(`project ${projectId}`);
});

test("a list continues where the page before ended", () => {
  const { workspace, projectId } = startProject("A", "B", "C", "D", "E");
  const first = workspace.call(listGameSystems, { projectId, limit: 2 });
  expect(first).toMatchObject({ total: 5, next: "b" });
  const second = workspace.call(listGameSystems, { projectId, limit: 2, after: "b" });
  expect(second.items.map(({ name }) => name)).toEqual(["C", "D"]);
  const last = workspace.call(listGameSystems, { projectId, limit: 2, after: "d" });
  expect(last).toMatchObject({ next: null, items: [{ name: "E" }] });
  for (const name of ["P", "Q"]) workspace.call(createProject, { name });
  const page = workspace.call(listProjects, { limit: 2 });
  expect(page.items.map(({ name }) => name)).toEqual(["Q", "P"]);
  const rest = workspace.call(listProjects, { limit: 2, after: page.next ?? "" });
  expect(rest).toMatchObject({ next: null, items: [{ name: "Dungeon Crawler" }] });
});

test("systems are found by text, status and criticality", () => {
  const { workspace, projectId } = startProject("Combat", "Movement");
  const system = { projectId, systemSlug: "loot", name: "Loot", purpose: "Rewards 100% of FIGHTS" };
  workspace.call(createGameSystem, { ...system, status: "active", mvpCriticality: "later" });
  const find = (filter: object) =>
    workspace.call(listGameSystems, { projectId, ...filter }).items.map(({ name }) => name);
  expect(find({ search: "fights" })).toEqual(["Loot"]);
  expect(find({ search: "%" })).toEqual(["Loot"]);
  expect(find({ status: "active", mvpCriticality: "later" })).toEqual(["Loot"]);
  expect(find({ status: "deprecated" })).toEqual([]);
});

test("a change of a system is in its changelog, and the newest one can be reverted", () => {
  const { workspace, ids } = startProject("Combat");
  const [systemId = ""] = ids;
  const { system, entry } = workspace.call(updateGameSystem, {
    systemId,
    changeSummary: "Fights take turns",
    coreMechanics: "Turns",
    status: "active",
  });
  expect(system).toMatchObject({ revision: 2, coreMechanics: "Turns" });
  expect(entry).toMatchObject({ fields: ["status", "coreMechanics"].toReversed().toSorted() });
  expect(workspace.refusal(revert, { entity: "system", id: systemId, revision: 1 })).toBe("stale");
  workspace.call(revert, { entity: "system", id: systemId, revision: 2 });
  const after = workspace.call(getGameSystem, { systemId });
  expect(after.system).toMatchObject({ revision: 3, coreMechanics: "", status: "draft" });
  expect(after.changelog.map(({ revision }) => revision)).toEqual([3, 2, 1]);
});

test("a write with an old revision changes nothing", () => {
  const { workspace, projectId, ids } = startProject("Combat");
  const [systemId = ""] = ids;
  const change = { systemId, changeSummary: "x", purpose: "Fights" };
  workspace.call(updateGameSystem, { ...change, revision: 1 });
  expect(workspace.refusal(updateGameSystem, { ...change, revision: 1 })).toBe("stale");
  expect(workspace.refusal(deleteGameSystem, { systemId, revision: 1 })).toBe("stale");
  expect(workspace.refusal(deleteProject, { projectId, revision: 7 })).toBe("stale");
  expect(workspace.refusal(updateProject, { projectId })).toBe("validation");
});

test("a slug stands once among the systems of a project", () => {
  const { workspace, projectId, ids } = startProject("Combat", "Movement");
  const [systemId = ""] = ids;
  const again = { projectId, name: "Other", systemSlug: "movement" };
  expect(workspace.refusal(createGameSystem, again)).toBe("conflict");
  const rename = { systemId, changeSummary: "x", systemSlug: "movement" };
  expect(workspace.refusal(updateGameSystem, rename)).toBe("conflict");
});

test("a document is imported, and a second one of the same name gets a number", () => {
  const { workspace, projectId } = startProject();
  const markdown = "# Combat\n\n## Purpose\nFights.\n";
  const first = workspace.call(importSystem, { projectId, markdown });
  expect(first).toMatchObject({
    system: { systemSlug: "combat", purpose: "Fights." },
    warnings: [],
  });
  const second = workspace.call(importSystem, { projectId, markdown });
  expect(second).toMatchObject({ system: { systemSlug: "combat-2" }, warnings: [{}] });
  expect(workspace.refusal(importSystem, { projectId, markdown: " \n" })).toBe("validation");
});

test("an export is a document in parts", () => {
  const { workspace, projectId } = startProject("Combat", "Movement");
  const { export: made, excerpt } = workspace.call(generateExport, { projectId, kind: "GDD" });
  expect(made).toMatchObject({ parts: 1, fileName: "dungeon-crawler-gdd-2026-11-22.md" });
  const { text } = workspace.call(getExport, { exportId: made.id });
  expect(text.startsWith(excerpt)).toBe(true);
  expect(text).toContain("### 1. Movement");
  expect(text).toContain("Depends on: Movement (requires).");
  expect(workspace.refusal(getExport, { exportId: made.id, part: 2 })).toBe("not_found");
});

test("the data of a project is answered whole, in parts", () => {
  const { workspace, projectId, ids } = startProject("Combat", "Movement");
  const { text, parts, characters } = workspace.call(exportData, { projectId });
  expect([parts, characters]).toEqual([1, text.length]);
  expect(JSON.parse(text)).toMatchObject({
    project: { name: "Dungeon Crawler" },
    systems: [{ name: "Movement" }, { name: "Combat" }],
    dependencies: [{ sourceSystemId: ids[0], targetSystemId: ids[1], type: "requires" }],
    plans: [],
  });
  expect(workspace.refusal(exportData, { projectId, part: 2 })).toBe("not_found");
});

test("another tenant reaches no row by any id", () => {
  const { workspace, projectId, ids } = startProject("Combat", "Movement");
  const [systemId = ""] = ids;
  const stranger = (operation: never, args: object) =>
    workspace.refusal(operation, args as never, "user:eve", "other");
  const attempts: [operation: unknown, args: object][] = [
    [getProject, { projectId }],
    [getGameSystem, { systemId }],
    [updateGameSystem, { systemId, changeSummary: "x", name: "y" }],
    [deleteGameSystem, { systemId, revision: 1 }],
    [getDependencyGraph, { projectId }],
    [getImpactAnalysis, { systemId }],
    [getBoard, { projectId }],
    [arrangeSystems, { projectId, places: [{ systemId, place: { x: 1, y: 1 } }] }],
    [revert, { entity: "board", id: projectId, revision: 1 }],
    [generateExport, { projectId, kind: "GDD" }],
    [restore, { entity: "system", id: systemId }],
    [emptyBin, { projectId }],
  ];
  for (const [operation, args] of attempts) {
    expect(stranger(operation as never, args)).toBe("not_found");
  }
});

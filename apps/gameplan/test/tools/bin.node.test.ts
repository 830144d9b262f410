import { expect, test } from "vitest";
import { discard } from "../../tools/bin/discard.ts";
import { emptyBin } from "../../tools/bin/empty-bin.ts";
import { listBin } from "../../tools/bin/list-bin.ts";
import { restore } from "../../tools/bin/restore.ts";
import { addDependency } from "../../tools/dependency/add-dependency.ts";
import { getDependencyGraph } from "../../tools/dependency/get-dependency-graph.ts";
import { removeDependency } from "../../tools/dependency/remove-dependency.ts";
import { createGameSystem } from "../../tools/game-system/create-game-system.ts";
import {
  deleteGameSystem,
  previewSystemDeletion,
} from "../../tools/game-system/delete-game-system.ts";
import { getGameSystem } from "../../tools/game-system/get-game-system.ts";
import { updateGameSystem } from "../../tools/game-system/update-game-system.ts";
import { deleteProject } from "../../tools/project/delete-project.ts";
import { getProject } from "../../tools/project/get-project.ts";
import { createPlan } from "./create-plan.ts";
import { startProject } from "./start-project.ts";

const DAY_MS = 86_400_000;

test("a deletion says what goes, moves to the bin, and comes back whole", () => {
  const { workspace, projectId, ids } = startProject("Combat", "Movement", "Physics");
  const [, systemId = ""] = ids;
  createPlan(workspace, { projectId, version: "0.1", systemIds: ids });
  const preview = workspace.call(previewSystemDeletion, { systemId });
  expect(preview).toMatchObject({
    system: "Movement",
    dependencies: ["Combat requires it", "requires Physics"],
    plans: ["0.1 (draft)"],
  });
  const gone = workspace.call(deleteGameSystem, { systemId, revision: 1 });
  expect(gone).toMatchObject({ dependencies: 2, plans: [{ version: "0.1" }] });
  expect(workspace.refusal(getGameSystem, { systemId })).toBe("not_found");
  expect(workspace.call(getDependencyGraph, { projectId })).toMatchObject({ edgeTotal: 0 });
  expect(workspace.call(listBin, { projectId })).toMatchObject({
    items: [{ name: "Movement", restorableUntil: "2026-12-22T00:00:00.000Z" }],
  });
  const { revision } = gone.binItem;
  const reference = { entity: "system" as const, id: systemId };
  expect(workspace.refusal(restore, { ...reference, revision: 1 })).toBe("stale");
  workspace.call(restore, { ...reference, revision });
  expect(workspace.refusal(restore, { ...reference, revision })).toBe("stale");
  expect(workspace.call(getDependencyGraph, { projectId })).toMatchObject({ edgeTotal: 2 });
});

test("a row comes back only if nothing has taken its place", () => {
  const { workspace, projectId, ids } = startProject("Combat", "Movement", "Physics");
  const [combat = "", movement = "", physics = ""] = ids;
  workspace.call(deleteGameSystem, { systemId: movement, revision: 1 });
  const link = { sourceSystemId: physics, targetSystemId: combat, type: "requires" as const };
  workspace.call(addDependency, link);
  const back = { entity: "system" as const, id: movement };
  expect(workspace.refusal(restore, back)).toBe("validation");
  const { type: _, ...ends } = link;
  const removed = workspace.call(removeDependency, ends).binItem;
  const taken = { projectId, name: "New", systemSlug: "movement" };
  const { system } = workspace.call(createGameSystem, taken);
  expect(workspace.refusal(restore, back)).toBe("conflict");
  workspace.call(deleteGameSystem, { systemId: system.id, revision: 1 });
  workspace.call(restore, back);
  const dependency = { entity: "dependency" as const, id: removed.id };
  expect(workspace.refusal(restore, dependency)).toBe("validation");
});

test("the bin keeps rows for 30 days, and the next deletion removes them for good", () => {
  const { workspace, projectId, ids } = startProject("Combat", "Movement");
  const [combat = "", movement = ""] = ids;
  workspace.call(deleteGameSystem, { systemId: combat, revision: 1 });
  workspace.nowMs += 30 * DAY_MS;
  expect(workspace.call(listBin, { projectId }).items).toEqual([]);
  expect(workspace.refusal(restore, { entity: "system", id: combat })).toBe("not_found");
  workspace.call(deleteGameSystem, { systemId: movement, revision: 1 });
  expect([workspace.count("systems"), workspace.count("dependencies")]).toEqual([1, 0]);
  expect(workspace.call(emptyBin, {})).toEqual({ removed: 1 });
  expect([workspace.count("systems"), workspace.count("changelog")]).toEqual([0, 0]);
});

test("a deletion cannot be undone once its row is removed for good", () => {
  const { workspace, ids } = startProject("Combat");
  const [id = ""] = ids;
  const { revision } = workspace.call(deleteGameSystem, { systemId: id, revision: 1 }).binItem;
  workspace.call(emptyBin, {});
  expect(workspace.refusal(restore, { entity: "system", id, revision })).toBe("stale");
  expect(workspace.refusal(restore, { entity: "system", id })).toBe("not_found");
  // So nobody is asked about it: the tool rehearses its operation.
  expect(workspace.refusal(emptyBin, {})).toBe("conflict");
});

test("a project goes and comes back with all that it holds, by its author alone", () => {
  const { workspace, projectId, ids } = startProject("Combat", "Movement");
  const [systemId = ""] = ids;
  expect(workspace.refusal(deleteProject, { projectId, revision: 1 }, "user:bob")).toBe(
    "forbidden",
  );
  const { removed, binItem } = workspace.call(deleteProject, { projectId, revision: 1 });
  expect(removed).toMatchObject({ systems: 2, dependencies: 1 });
  expect(workspace.refusal(getGameSystem, { systemId })).toBe("not_found");
  const change = { systemId, changeSummary: "x", name: "y" };
  expect(workspace.refusal(updateGameSystem, change)).toBe("not_found");
  const { revision } = binItem;
  workspace.call(restore, { entity: "project", id: projectId, revision });
  expect(workspace.call(getProject, { projectId }).counts.systems).toBe(2);
  const { project } = workspace.call(getProject, { projectId });
  workspace.call(deleteProject, { projectId, revision: project.revision });
  workspace.call(emptyBin, {});
  for (const table of ["projects", "systems", "dependencies", "activity", "changelog"]) {
    expect([table, workspace.count(table)]).toEqual([table, 0]);
  }
});

test("the bin lists many rows page by page, newest deletion first", () => {
  const { workspace, projectId, ids } = startProject("A", "B", "C");
  for (const systemId of ids) {
    workspace.nowMs += 1;
    workspace.call(deleteGameSystem, { systemId, revision: 1 });
  }
  const names: string[] = [];
  let after: string | null = "";
  while (after !== null) {
    const page: { items: { name: string }[]; next: string | null; total: number } = workspace.call(
      listBin,
      { projectId, limit: 1, ...(after !== "" && { after }) },
    );
    expect(page.total).toBe(3);
    names.push(...page.items.map(({ name }) => name));
    after = page.next;
  }
  expect(names).toEqual(["C", "B", "A"]);
});

test("a creation is taken back only while nothing is built on it", () => {
  const { workspace, projectId, ids } = startProject("Combat", "Movement");
  const [, id = ""] = ids;
  const fresh = { projectId, name: "Loot", systemSlug: "loot" };
  const { system } = workspace.call(createGameSystem, fresh);
  const created = { entity: "system" as const, revision: 1 };
  expect(workspace.refusal(discard, { ...created, id })).toBe("stale");
  expect(workspace.refusal(discard, { ...created, id: system.id, revision: 2 })).toBe("stale");
  expect(workspace.call(discard, { ...created, id: system.id })).toMatchObject({
    binItem: { name: "Loot" },
  });
  const project = { entity: "project" as const, id: projectId, revision: 1 };
  expect(workspace.refusal(discard, project)).toBe("stale");
  expect(workspace.refusal(discard, project, "user:bob")).toBe("forbidden");
});

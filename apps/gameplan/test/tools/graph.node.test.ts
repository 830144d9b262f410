import { expect, test } from "vitest";
import { revert } from "../../tools/bin/revert.ts";
import { arrangeSystems } from "../../tools/board/arrange-systems.ts";
import { getBoard } from "../../tools/board/get-board.ts";
import { createProject } from "../../tools/project/create-project.ts";
import { getProjectActivity } from "../../tools/project/get-project-activity.ts";
import { discard } from "../../tools/bin/discard.ts";
import { addDependency } from "../../tools/dependency/add-dependency.ts";
import { getDependencyGraph } from "../../tools/dependency/get-dependency-graph.ts";
import { getImpactAnalysis } from "../../tools/dependency/get-impact-analysis.ts";
import { createGameSystem } from "../../tools/game-system/create-game-system.ts";
import { deleteGameSystem } from "../../tools/game-system/delete-game-system.ts";
import { updateGameSystem } from "../../tools/game-system/update-game-system.ts";
import { copyVersionPlan } from "../../tools/version-plan/copy-version-plan.ts";
import { addPlanPhases } from "../../tools/version-plan/add-plan-phases.ts";
import { clearPlanPhases } from "../../tools/version-plan/clear-plan-phases.ts";
import { draftVersionPlan } from "../../tools/version-plan/draft-version-plan.ts";
import { deleteVersionPlan } from "../../tools/version-plan/delete-version-plan.ts";
import { finalizeVersionPlan } from "../../tools/version-plan/finalize-version-plan.ts";
import { getVersionPlan } from "../../tools/version-plan/get-version-plan.ts";
import { validateVersionScope } from "../../tools/version-plan/validate-version-scope.ts";
import { createPlan } from "./create-plan.ts";
import { startProject } from "./start-project.ts";

test("a dependency must not close a cycle, however long", () => {
  const { workspace, ids } = startProject("A", "B", "C", "D");
  const [a = "", b = "", , d = ""] = ids;
  const add = (sourceSystemId: string, targetSystemId: string) =>
    workspace.try(addDependency, { sourceSystemId, targetSystemId, type: "optional" }, "user:ann");
  const refused = add(d, a);
  expect(refused).toMatchObject({
    ok: false,
    failure: { errors: [{ message: expect.stringContaining("A -> B -> C -> D") as string }] },
  });
  expect(add(a, a)).toMatchObject({ ok: false });
  expect(add(a, b)).toMatchObject({ ok: false, failure: { errors: [{ code: "conflict" }] } });
  expect(add(a, d)).toMatchObject({ ok: true });
});

test("the graph comes in an order in which systems can be built, page by page", () => {
  const { workspace, projectId } = startProject("Combat", "Movement", "Physics");
  const graph = workspace.call(getDependencyGraph, { projectId, limit: 2 });
  expect(graph.nodes.map(({ name, level }) => [name, level])).toEqual([
    ["Physics", 0],
    ["Movement", 1],
  ]);
  expect(graph).toMatchObject({ nodeTotal: 3, edgeTotal: 2, levels: 3, nextOffset: 2 });
  const rest = workspace.call(getDependencyGraph, { projectId, offset: 2 });
  expect(rest).toMatchObject({ nextOffset: null, nodes: [{ name: "Combat", position: 2 }] });
  expect(rest.edges).toHaveLength(1);
});

test("a board keeps where people put systems, and takes back only its newest move", () => {
  const { workspace, projectId, ids } = startProject("Combat", "Movement");
  const [combat = "", movement = ""] = ids;
  const elsewhere = workspace.call(createProject, { name: "Elsewhere" }).project.id;
  const made = { projectId: elsewhere, name: "Other", systemSlug: "other" };
  const other = workspace.call(createGameSystem, made).system.id;
  const move = (systemId: string, x: number, person = "user:ann") => {
    const args = { projectId, places: [{ systemId, place: { x, y: 0 } }] };
    return workspace.call(arrangeSystems, args, person).revision;
  };
  const placed = () => {
    const { nodes } = workspace.call(getBoard, { projectId });
    return nodes.map(({ name, place }) => `${name} ${place?.x ?? "free"}`);
  };
  const before = workspace.call(getBoard, { projectId }).nodes.length;
  expect([before, placed()]).toEqual([2, ["Movement free", "Combat free"]]);
  const first = move(combat, 10);
  const second = move(movement, 20);
  expect(placed()).toEqual(["Movement 20", "Combat 10"]);
  const back = (revision: number) => ({ entity: "board" as const, id: projectId, revision });
  expect(workspace.refusal(revert, back(first))).toBe("stale");
  workspace.call(revert, back(second));
  expect(placed()).toEqual(["Movement free", "Combat 10"]);
  const stranger = { projectId, places: [{ systemId: other, place: { x: 1, y: 1 } }] };
  expect(workspace.refusal(arrangeSystems, stranger)).toBe("not_found");
  move(combat, 30);
  move(combat, 40, "user:bob");
  move(movement, 50, "user:bob");
  // The moves of a person in a row are one line, which tells of the last one.
  const { items } = workspace.call(getProjectActivity, { projectId, limit: 2 });
  expect(items.map(({ actor, summary }) => `${actor}: ${summary}`)).toEqual([
    'user:bob: Moved "Movement" on the board',
    'user:ann: Moved "Combat" on the board',
  ]);
});

test("an impact analysis names all that depends on a system, and how strongly", () => {
  const { workspace, projectId, ids } = startProject("Combat", "Movement", "Physics");
  const [, , physics = ""] = ids;
  const loot = { projectId, name: "Loot", systemSlug: "loot" };
  const sourceSystemId = workspace.call(createGameSystem, loot).system.id;
  workspace.call(addDependency, { sourceSystemId, targetSystemId: ids[0] ?? "", type: "enhances" });
  createPlan(workspace, { projectId, version: "0.1", systemIds: [physics] });
  const { impacted, total, draftPlans } = workspace.call(getImpactAnalysis, { systemId: physics });
  expect(impacted.map(({ name, distance, type }) => `${name} ${distance} ${type}`)).toEqual([
    "Movement 1 requires",
    "Combat 2 requires",
    "Loot 3 enhances",
  ]);
  expect(total).toBe(3);
  expect(draftPlans).toMatchObject([{ version: "0.1" }]);
});

test("a scope lacks what its systems require, also through others", () => {
  const { workspace, projectId, ids } = startProject("Combat", "Movement", "Physics");
  const [combat = "", movement = "", physics = ""] = ids;
  const { scope } = workspace.call(validateVersionScope, { projectId, systemIds: [combat] });
  expect(scope).toMatchObject({
    valid: false,
    missing: [
      { systemId: movement, requiredBy: ["Combat"] },
      { systemId: physics, requiredBy: ["Movement"] },
    ],
  });
  const whole = workspace.call(validateVersionScope, { projectId, systemIds: ids });
  expect(whole.scope).toMatchObject({ valid: true, missing: [], missingTotal: 0 });
  expect(whole.scope.order.map(({ name }) => name)).toEqual(["Physics", "Movement", "Combat"]);
  // A system of another project is not there, by whatever tool a plan names it.
  const second = workspace.call(createProject, { name: "Second" }).project.id;
  const foreign = { projectId: second, systemIds: [physics] };
  expect(workspace.refusal(validateVersionScope, foreign)).toBe("not_found");
  expect(workspace.refusal(draftVersionPlan, { ...foreign, version: "1" })).toBe("not_found");
  const refused = workspace.try(
    draftVersionPlan,
    { projectId, version: "0.1", systemIds: [combat] },
    "user:ann",
  );
  expect(JSON.stringify(refused)).toContain(String.raw`lacks \"Movement\", \"Physics\"`);
});

test("a plan has phases, is finalized once, and is copied to be changed", () => {
  const { workspace, projectId, ids } = startProject("Combat", "Movement");
  const [combat = "", movement = ""] = ids;
  const create = { projectId, version: "0.1", systemIds: ids };
  const { plan } = createPlan(workspace, create);
  expect(plan.phases.map(({ systems }) => systems.map(({ name }) => name))).toEqual([
    ["Movement"],
    ["Combat"],
  ]);
  expect(workspace.refusal(draftVersionPlan, create)).toBe("conflict");
  const early = [
    { name: "One", systemIds: [combat] },
    { name: "Two", systemIds: [movement] },
  ];
  const second = { ...create, version: "0.2" };
  expect(workspace.refusal(draftVersionPlan, { ...second, phases: early })).toBe("validation");
  const half = [{ name: "One", systemIds: [movement] }];
  expect(workspace.refusal(draftVersionPlan, { ...second, phases: half })).toBe("validation");
  const planId = plan.id;
  const finalized = workspace.call(finalizeVersionPlan, { planId, revision: 1 }).plan;
  expect(finalized).toMatchObject({ status: "finalized", revision: 2 });
  expect(workspace.refusal(finalizeVersionPlan, { planId, revision: 2 })).toBe("conflict");
  expect(workspace.refusal(deleteVersionPlan, { planId, revision: 2 })).toBe("conflict");
  const gone = { entity: "version_plan" as const, id: planId, revision: 2 };
  expect(workspace.refusal(discard, gone)).toBe("conflict");
  const rename = { systemId: combat, changeSummary: "x", name: "Fighting" };
  workspace.call(updateGameSystem, rename);
  const { plan: kept } = workspace.call(getVersionPlan, { planId });
  expect(JSON.stringify(kept)).toContain('"Combat"');
  const copy = workspace.call(copyVersionPlan, { planId, version: "0.1-b" }).plan;
  expect(copy).toMatchObject({ status: "draft", systems: 2, phases: kept.phases.map(() => ({})) });
  expect(JSON.stringify(copy)).toContain('"Fighting"');
});

test("an incomplete draft is kept when asked for, and cannot be finalized", () => {
  const { workspace, projectId, ids } = startProject("Combat", "Movement");
  const systemIds = ids.slice(0, 1);
  const args = { projectId, version: "0.1", systemIds, allowIncomplete: true };
  const { plan, scope } = createPlan(workspace, args);
  expect(scope.valid).toBe(false);
  expect(workspace.refusal(finalizeVersionPlan, { planId: plan.id, revision: 1 })).toBe(
    "validation",
  );
  workspace.call(deleteGameSystem, { systemId: systemIds[0] ?? "", revision: 1 });
  expect(workspace.refusal(finalizeVersionPlan, { planId: plan.id, revision: 1 })).toBe(
    "validation",
  );
});

test("the steps of a plan take each other back, and only on a draft that nobody changed", () => {
  const { workspace, projectId, ids: systemIds } = startProject("Combat");
  const { plan } = workspace.call(draftVersionPlan, { projectId, version: "0.1", systemIds });
  const row = { planId: plan.id, revision: 1 };
  expect(workspace.refusal(finalizeVersionPlan, { planId: plan.id, revision: 1 })).toBe(
    "validation",
  );
  const phases = [{ name: "One", systemIds }];
  const gone = [{ name: "One", systemIds: ["gone"] }];
  expect(workspace.refusal(addPlanPhases, { ...row, phases: gone })).toBe("not_found");
  expect(workspace.call(addPlanPhases, { ...row, phases }).plan).toMatchObject({ systems: 1 });
  expect(workspace.refusal(addPlanPhases, { ...row, phases })).toBe("conflict");
  expect(workspace.call(clearPlanPhases, row).plan).toMatchObject({ systems: 0, phases: [] });
  workspace.call(addPlanPhases, { ...row, phases });
  workspace.call(finalizeVersionPlan, { planId: plan.id, revision: 1 });
  expect(workspace.refusal(clearPlanPhases, row)).toBe("stale");
  expect(workspace.refusal(clearPlanPhases, { ...row, revision: 2 })).toBe("conflict");
});

import { expect, test } from "vitest";
import { discard } from "../../../src/tools/gameplan/bin/discard.ts";
import { addDependency } from "../../../src/tools/gameplan/dependency/add-dependency.ts";
import { getDependencyGraph } from "../../../src/tools/gameplan/dependency/get-dependency-graph.ts";
import { getImpactAnalysis } from "../../../src/tools/gameplan/dependency/get-impact-analysis.ts";
import { createGameSystem } from "../../../src/tools/gameplan/game-system/create-game-system.ts";
import { deleteGameSystem } from "../../../src/tools/gameplan/game-system/delete-game-system.ts";
import { updateGameSystem } from "../../../src/tools/gameplan/game-system/update-game-system.ts";
import { copyVersionPlan } from "../../../src/tools/gameplan/version-plan/copy-version-plan.ts";
import { createVersionPlan } from "../../../src/tools/gameplan/version-plan/create-version-plan.ts";
import { deleteVersionPlan } from "../../../src/tools/gameplan/version-plan/delete-version-plan.ts";
import { finalizeVersionPlan } from "../../../src/tools/gameplan/version-plan/finalize-version-plan.ts";
import { getVersionPlan } from "../../../src/tools/gameplan/version-plan/get-version-plan.ts";
import { validateVersionScope } from "../../../src/tools/gameplan/version-plan/validate-version-scope.ts";
import { startProject } from "./start-project.ts";

test("a dependency must not close a cycle, however long", () => {
  const { workspace, ids } = startProject("A", "B", "C", "D");
  const [a = "", b = "", , d = ""] = ids;
  const add = (sourceSystemId: string, targetSystemId: string) =>
    workspace.try(addDependency, { sourceSystemId, targetSystemId, type: "optional" }, "user:ann");
  const refused = add(d, a);
  expect(refused).toMatchObject({
    ok: false,
    failure: { errors: [{ message: expect.stringContaining(ids.join(" -> ")) as string }] },
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

test("an impact analysis names all that depends on a system, and how strongly", () => {
  const { workspace, projectId, ids } = startProject("Combat", "Movement", "Physics");
  const [, , physics = ""] = ids;
  const loot = { projectId, name: "Loot", systemSlug: "loot" };
  const sourceSystemId = workspace.call(createGameSystem, loot).system.id;
  workspace.call(addDependency, { sourceSystemId, targetSystemId: ids[0] ?? "", type: "enhances" });
  workspace.call(createVersionPlan, { projectId, version: "0.1", systemIds: [physics] });
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
  const refused = workspace.try(
    createVersionPlan,
    { projectId, version: "0.1", systemIds: [combat] },
    "user:ann",
  );
  expect(JSON.stringify(refused)).toContain(movement);
});

test("a plan has phases, is finalized once, and is copied to be changed", () => {
  const { workspace, projectId, ids } = startProject("Combat", "Movement");
  const [combat = "", movement = ""] = ids;
  const create = { projectId, version: "0.1", systemIds: ids };
  const { plan } = workspace.call(createVersionPlan, create);
  expect(plan.phases.map(({ systems }) => systems.map(({ name }) => name))).toEqual([
    ["Movement"],
    ["Combat"],
  ]);
  expect(workspace.refusal(createVersionPlan, create)).toBe("conflict");
  const early = [
    { name: "One", systemIds: [combat] },
    { name: "Two", systemIds: [movement] },
  ];
  const second = { ...create, version: "0.2" };
  expect(workspace.refusal(createVersionPlan, { ...second, phases: early })).toBe("validation");
  const half = [{ name: "One", systemIds: [movement] }];
  expect(workspace.refusal(createVersionPlan, { ...second, phases: half })).toBe("validation");
  const planId = plan.id;
  const finalized = workspace.call(finalizeVersionPlan, { planId }).plan;
  expect(finalized).toMatchObject({ status: "finalized", revision: 2 });
  expect(workspace.refusal(finalizeVersionPlan, { planId })).toBe("conflict");
  expect(workspace.refusal(deleteVersionPlan, { planId })).toBe("conflict");
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
  const { plan, scope } = workspace.call(createVersionPlan, args);
  expect(scope.valid).toBe(false);
  expect(workspace.refusal(finalizeVersionPlan, { planId: plan.id })).toBe("validation");
  workspace.call(deleteGameSystem, { systemId: systemIds[0] ?? "" });
  expect(workspace.refusal(finalizeVersionPlan, { planId: plan.id })).toBe("validation");
});

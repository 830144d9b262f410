import type { Result, ToolFailure } from "interlock-edge/tools";
import type { VersionPlan } from "../entities/version-plan.ts";
import type { PlacelessNode } from "../graph/read-graph.ts";
import type { WorkspaceCaller, WorkspaceReads, WorkspaceSql } from "interlock-edge/tools";
import { addRow } from "../rows/add-row.ts";
import { refuse } from "../refuse.ts";
import { countRows } from "../list-page.ts";
import { findPlan } from "../rows/plan-row.ts";

/** A new draft. */
export interface NewPlan {
  readonly projectId: string;
  readonly version: string;
  readonly name: string;
  readonly goal: string;
  readonly phases: readonly { readonly name: string; readonly systems: readonly PlannedNode[] }[];
}

type PlannedNode = Pick<PlacelessNode, "systemId" | "name" | "systemSlug" | "mvpCriticality">;

/** Adds a draft with its phases. Fails: conflict when another plan has the version. */
export function addPlan(
  sql: WorkspaceSql,
  caller: WorkspaceCaller,
  plan: NewPlan,
): Result<VersionPlan, ToolFailure> {
  const { projectId, version } = plan;
  if (isVersionTaken(sql, projectId, version)) {
    return refuse("conflict", VERSION_TAKEN, "/version");
  }
  const id = addRow(sql, caller, {
    entity: "version_plan",
    projectId,
    columns: { version, name: plan.name, goal: plan.goal, status: "draft" },
    summary: `Created version plan ${version}`,
  });
  insertPhases(sql, id, plan.phases);
  return findPlan(sql, caller, { id });
}

/** Gives a plan its phases, in the order of work. */
function insertPhases(sql: WorkspaceSql, id: string, phases: NewPlan["phases"]): void {
  phases.forEach(({ name, systems }, index) => {
    const number = index + 1;
    sql.run("INSERT INTO plan_phases (plan_id, number, name) VALUES (?, ?, ?)", id, number, name);
    systems.forEach((system, place) => {
      sql.run(
        `INSERT INTO plan_systems (plan_id, system_id, phase, place, name, slug, mvp_criticality)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
        id,
        system.systemId,
        number,
        place,
        system.name,
        system.systemSlug,
        system.mvpCriticality,
      );
    });
  });
}

/** Gives a plan other phases. */
export function replacePhases(sql: WorkspaceSql, id: string, phases: NewPlan["phases"]): void {
  sql.run("DELETE FROM plan_systems WHERE plan_id = ?", id);
  sql.run("DELETE FROM plan_phases WHERE plan_id = ?", id);
  insertPhases(sql, id, phases);
}

export const VERSION_TAKEN = "Another plan has this version.";

/** Tells whether a plan that is not in the bin has the version. */
export function isVersionTaken(sql: WorkspaceReads, projectId: string, version: string): boolean {
  const where = "project_id = ? AND version = ? AND deleted_at IS NULL";
  return countRows(sql, { table: "plans", where, bindings: [projectId, version] }) > 0;
}

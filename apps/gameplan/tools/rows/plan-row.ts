import * as v from "valibot";
import { ok, type Result, type ToolFailure } from "interlock-edge/tools";
import {
  planSummary,
  plannedSystem,
  planPhase,
  type VersionPlan,
} from "../entities/version-plan.ts";
import { toIso, toIsoOrNull } from "../iso-time.ts";
import type { WorkspaceCaller, WorkspaceReads } from "interlock-edge/tools";
import { refuse } from "../refuse.ts";
import { findLive, GONE } from "./entity-row.ts";

export const PLAN_COLUMNS = `id, project_id AS projectId, version, name, goal, status,
  (SELECT count(*) FROM plan_systems WHERE plan_id = plans.id) AS systems,
  (SELECT count(*) FROM plan_phases WHERE plan_id = plans.id) AS phases,
  revision, created_at AS createdAt, created_by AS createdBy, finalized_at AS finalizedAt`;

export const planRow = v.object({
  ...planSummary.entries,
  createdAt: v.number(),
  finalizedAt: v.nullable(v.number()),
});

export type PlanRow = v.InferOutput<typeof planRow>;

export function toPlanSummary(row: PlanRow): v.InferOutput<typeof planSummary> {
  return { ...row, createdAt: toIso(row.createdAt), finalizedAt: toIsoOrNull(row.finalizedAt) };
}

const { number, name } = planPhase.entries;
const phaseRow = v.object({ number, name });
const { exists: _exists, ...planned } = plannedSystem.entries;
const systemRow = v.object({ ...planned, phase: v.number(), isLive: v.number() });

/** Finds a plan that is not in the bin, with its phases. Fails: not_found, stale. */
export function findPlan(
  sql: WorkspaceReads,
  caller: WorkspaceCaller,
  reference: { readonly id: string; readonly revision?: number },
): Result<VersionPlan, ToolFailure> {
  const found = findLive(sql, caller, { entity: "version_plan", ...reference });
  if (!found.ok) return found;
  const { id } = found.value;
  const row = sql.first(planRow, `SELECT ${PLAN_COLUMNS} FROM plans WHERE id = ?`, id);
  if (!row) return refuse("not_found", GONE);
  // A draft shows the names of today. A finalized plan shows the names that it was finalized with.
  const names =
    row.status === "draft"
      ? `coalesce(s.name, p.name) AS name, coalesce(s.slug, p.slug) AS systemSlug,
         coalesce(s.mvp_criticality, p.mvp_criticality) AS mvpCriticality`
      : "p.name, p.slug AS systemSlug, p.mvp_criticality AS mvpCriticality";
  const systems = sql.rows(
    systemRow,
    `SELECT p.system_id AS systemId, ${names}, p.phase, s.id IS NOT NULL AS isLive
     FROM plan_systems p LEFT JOIN systems s ON s.id = p.system_id AND s.deleted_at IS NULL
     WHERE p.plan_id = ? ORDER BY p.phase, p.place`,
    id,
  );
  const byPhase = Map.groupBy(systems, ({ phase }) => phase);
  const phases = sql
    .rows(phaseRow, "SELECT number, name FROM plan_phases WHERE plan_id = ? ORDER BY number", id)
    .map(({ number: place, name: title }) => ({
      number: place,
      name: title,
      systems: (byPhase.get(place) ?? []).map(toPlannedSystem),
    }));
  return ok({ ...toPlanSummary(row), phases });
}

/** The ids of a plan's systems, in the order of work. */
export function systemIdsOf({ phases }: VersionPlan): string[] {
  return phases.flatMap(({ systems }) => systems.map(({ systemId }) => systemId));
}

function toPlannedSystem(
  row: v.InferOutput<typeof systemRow>,
): v.InferOutput<typeof plannedSystem> {
  const { phase: _, isLive, ...system } = row;
  return { ...system, exists: isLive === 1 };
}

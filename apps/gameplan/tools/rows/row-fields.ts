import * as v from "valibot";
import { jsonText } from "./json-text.ts";
import type { WorkspaceCaller, WorkspaceReads, WorkspaceSql } from "interlock-edge/tools";
import { replacePhases, type NewPlan } from "../version-plan/add-plan.ts";
import { TABLES, type EntityReference } from "./entity-row.ts";
import { findPlan } from "./plan-row.ts";

/** Fields of a row as texts. Lists are JSON, and so are the phases of a plan. */
export type Fields = Readonly<Record<string, string>>;

/** The column of a field: `coreMechanics` is `core_mechanics`. */
export function columnOf(field: string): string {
  if (field === "systemSlug") return "slug";
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The one field that is no column. */
const PHASES = "phases";

export const fieldsText = jsonText(v.record(v.string(), v.string()));
const fieldsRow = v.object({ fields: fieldsText });

/** Reads fields of a row that is there. Threat: names are code; they never come from a call. */
export function readFields(
  sql: WorkspaceReads,
  caller: WorkspaceCaller,
  { entity, id, names }: EntityReference & { readonly names: readonly string[] },
): Fields {
  const pairs = names
    .filter((name) => name !== PHASES)
    .map((name) => `'${name}', ${columnOf(name)}`);
  const query = `SELECT json_object(${pairs.join(", ")}) AS fields FROM ${TABLES[entity].table}
    WHERE id = ?`;
  const fields = sql.first(fieldsRow, query, id)?.fields ?? {};
  if (!names.includes(PHASES)) return fields;
  const plan = findPlan(sql, caller, { id });
  const phases = plan.ok ? plan.value.phases : [];
  return { ...fields, phases: writePhases(phases) };
}

/** Sets fields of a row, and its revision. */
export function writeFields(
  sql: WorkspaceSql,
  caller: WorkspaceCaller,
  row: EntityReference & { readonly fields: Fields; readonly revision: number },
): void {
  const { entity, id, revision } = row;
  const { phases, ...fields } = row.fields;
  const values: Record<string, string | number> = { ...fields, revision };
  if (entity === "project" || entity === "system") values["updatedAt"] = caller.nowMs;
  const columns = Object.keys(values).map((field) => `${columnOf(field)} = ?`);
  const query = `UPDATE ${TABLES[entity].table} SET ${columns.join(", ")} WHERE id = ?`;
  sql.run(query, ...Object.values(values), id);
  if (phases !== undefined) replacePhases(sql, id, JSON.parse(phases) as NewPlan["phases"]);
}

/** Phases as the text of a field. */
export function writePhases(phases: NewPlan["phases"]): string {
  return JSON.stringify(
    phases.map(({ name, systems }) => ({
      name,
      systems: systems.map((system) => ({
        systemId: system.systemId,
        name: system.name,
        systemSlug: system.systemSlug,
        mvpCriticality: system.mvpCriticality,
      })),
    })),
  );
}

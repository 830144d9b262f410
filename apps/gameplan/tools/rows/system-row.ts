import * as v from "valibot";
import { type Result, type ToolFailure } from "interlock-edge/tools";
import { gameSystem, type GameSystem } from "../entities/game-system.ts";
import { SYSTEM_TEXTS } from "../entities/system-texts.ts";
import { toIso } from "../iso-time.ts";
import type { WorkspaceCaller, WorkspaceReads } from "interlock-edge/tools";
import { findLive, toFound } from "./entity-row.ts";
import { columnOf } from "./row-fields.ts";

/** Fields of a system that people change. */
export const SYSTEM_FIELDS = [
  "name",
  "systemSlug",
  "mvpCriticality",
  "status",
  ...SYSTEM_TEXTS,
] as const;

const columns = ["id", "projectId", ...SYSTEM_FIELDS, "revision", "createdAt", "createdBy"]
  .concat("updatedAt")
  .map((field) => `${columnOf(field)} AS ${field}`)
  .join(", ");

const systemRow = v.object({
  ...gameSystem.entries,
  createdAt: v.number(),
  updatedAt: v.number(),
});

/** Finds a system that is not in the bin. Fails: not_found, stale. */
export function findSystem(
  sql: WorkspaceReads,
  caller: WorkspaceCaller,
  reference: { readonly id: string; readonly revision?: number },
): Result<GameSystem, ToolFailure> {
  const found = findLive(sql, caller, { entity: "system", ...reference });
  if (!found.ok) return found;
  const row = sql.first(systemRow, `SELECT ${columns} FROM systems WHERE id = ?`, found.value.id);
  return toFound(row, toSystem);
}

function toSystem(row: v.InferOutput<typeof systemRow>): GameSystem {
  return { ...row, createdAt: toIso(row.createdAt), updatedAt: toIso(row.updatedAt) };
}

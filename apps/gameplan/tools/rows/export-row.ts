import * as v from "valibot";
import { type Result, type ToolFailure } from "interlock-edge/tools";
import { documentExport, type DocumentExport } from "../entities/document-export.ts";
import { toIso } from "../iso-time.ts";
import type { WorkspaceCaller, WorkspaceReads } from "interlock-edge/tools";
import { findLive, toFound } from "./entity-row.ts";

export const EXPORT_COLUMNS = `id, project_id AS projectId, kind, title, file_name AS fileName,
  characters, parts, revision, created_at AS createdAt, created_by AS createdBy`;

export const exportRow = v.object({ ...documentExport.entries, createdAt: v.number() });

export function toExport(row: v.InferOutput<typeof exportRow>): DocumentExport {
  return { ...row, createdAt: toIso(row.createdAt) };
}

/** Finds an export that is not in the bin. Fails: not_found. */
export function findExport(
  sql: WorkspaceReads,
  caller: WorkspaceCaller,
  id: string,
): Result<DocumentExport, ToolFailure> {
  const found = findLive(sql, caller, { entity: "export", id });
  if (!found.ok) return found;
  const row = sql.first(exportRow, `SELECT ${EXPORT_COLUMNS} FROM exports WHERE id = ?`, id);
  return toFound(row, toExport);
}

import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { formatCount } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { ENTITIES, entityName, type EntityName } from "../entities/activity.ts";
import { binItem } from "../entities/bin-item.ts";
import { pageEntries, rowId } from "../entities/fields.ts";
import { countRows, makePage, pageArguments, rowsOf, type PageArguments } from "../list-page.ts";
import { defineOperation, type WorkspaceCaller, type WorkspaceReads } from "interlock-edge/tools";
import { isOwn, TABLES } from "../rows/entity-row.ts";
import { toBinItem } from "./put-into-bin.ts";
import { BIN_MS } from "./remove-rows.ts";

const row = v.object({
  entity: entityName,
  id: v.string(),
  projectId: v.string(),
  name: v.string(),
  revision: v.number(),
  createdBy: v.string(),
  deletedAt: v.number(),
  deletedBy: v.string(),
});

type BinnedRow = v.InferOutput<typeof row>;

export const listBin = defineOperation({
  name: "list_bin",
  kind: "read",
  input: v.strictObject({ projectId: v.exactOptional(rowId), ...pageArguments }),
  output: v.strictObject({ items: v.array(binItem), ...pageEntries }),
  run(sql, { projectId, ...page }, caller) {
    const parts = ENTITIES.map((entity) => readBin(sql, caller, { entity, projectId, page }));
    const rows = parts.flatMap(({ rows: found }) => found).toSorted(newestFirst);
    return ok(
      makePage(rows.slice(0, rowsOf(page)), {
        page,
        total: parts.reduce((sum, { total }) => sum + total, 0),
        cursorOf: ({ deletedAt, id }) => `${deletedAt}.${id}`,
        show: ({ entity, ...binned }) => toBinItem(entity, binned),
      }),
    );
  },
});

function newestFirst(a: BinnedRow, b: BinnedRow): number {
  return b.deletedAt - a.deletedAt || (a.id < b.id ? -1 : 1);
}

/** Reads what can be restored of one table. What a deleted project holds comes with the project. */
function readBin(
  sql: WorkspaceReads,
  caller: WorkspaceCaller,
  { entity, projectId = "", page }: BinOfTable,
): { readonly rows: readonly BinnedRow[]; readonly total: number } {
  const { table, title } = TABLES[entity];
  const where = `deleted_at > ?3 AND ${isOwn(entity)} AND (?4 = '' OR project_id = ?4)`;
  const bindings = [caller.tenantId, caller.authorId, caller.nowMs - BIN_MS, projectId];
  const [at = String(Number.MAX_SAFE_INTEGER), id = ""] = page.after?.split(".") ?? [];
  const rows = sql.rows(
    row,
    `SELECT '${entity}' AS entity, id, project_id AS projectId, ${title} AS name, revision,
       created_by AS createdBy, deleted_at AS deletedAt, deleted_by AS deletedBy
     FROM ${table} WHERE ${where} AND (deleted_at < ?5 OR (deleted_at = ?5 AND id > ?6))
     ORDER BY deleted_at DESC, id LIMIT ?7`,
    ...bindings,
    Number(at) || 0,
    id,
    rowsOf(page),
  );
  return { rows, total: countRows(sql, { table, where, bindings }) };
}

interface BinOfTable {
  readonly entity: EntityName;
  readonly projectId: string | undefined;
  readonly page: PageArguments;
}

export const listBinTool = gameplanTool(listBin, {
  description: "Lists what can be restored, newest deletion first.",
  service: "binService",
  done: ({ total }) => `Listed ${formatCount(total, "deleted item")}`,
  isHidden: true,
});

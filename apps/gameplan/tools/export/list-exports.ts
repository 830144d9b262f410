import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { formatCount } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { documentExport, exportKind } from "../entities/document-export.ts";
import { pageEntries, rowId } from "../entities/fields.ts";
import { listNewest, pageArguments } from "../list-page.ts";
import { defineOperation } from "interlock-edge/tools";
import { EXPORT_COLUMNS, exportRow, toExport } from "../rows/export-row.ts";
import { findProject } from "../rows/project-row.ts";

export const listExports = defineOperation({
  name: "list_exports",
  kind: "read",
  input: v.strictObject({ projectId: rowId, kind: v.exactOptional(exportKind), ...pageArguments }),
  output: v.strictObject({ items: v.array(documentExport), ...pageEntries }),
  run(sql, { projectId, kind, ...page }, caller) {
    const found = findProject(sql, caller, projectId);
    if (!found.ok) return found;
    const live = "project_id = ? AND deleted_at IS NULL";
    return ok(
      listNewest(sql, {
        row: v.object({ ...exportRow.entries, seq: v.number() }),
        columns: EXPORT_COLUMNS,
        table: "exports",
        where: kind === undefined ? live : `${live} AND kind = ?`,
        bindings: [projectId, ...(kind === undefined ? [] : [kind])],
        page,
        show: toExport,
      }),
    );
  },
});

export const listExportsTool = gameplanTool(listExports, {
  description: "Lists the documents that were generated for a project, newest first.",
  service: "exportService",
  done: ({ total }) => `Listed ${formatCount(total, "export")}`,
});

import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { documentExport } from "../entities/document-export.ts";
import { rowId } from "../entities/fields.ts";
import { defineOperation } from "interlock-edge/tools";
import { refuse } from "../refuse.ts";
import { findExport } from "../rows/export-row.ts";

/** Answers one part of a document. All parts after each other are the file. */
export const getExport = defineOperation({
  name: "get_export",
  kind: "read",
  input: v.strictObject({ exportId: rowId, part: v.exactOptional(documentExport.entries.parts) }),
  output: v.strictObject({
    export: documentExport,
    part: documentExport.entries.parts,
    text: v.string(),
  }),
  run(sql, { exportId, part = 1 }, caller) {
    const found = findExport(sql, caller, exportId);
    if (!found.ok) return found;
    const row = sql.first(
      v.object({ text: v.string() }),
      "SELECT text FROM export_parts WHERE export_id = ? AND part = ?",
      exportId,
      part,
    );
    if (!row) return refuse("not_found", "The document has no such part.", "/part");
    return ok({ export: found.value, part, text: row.text });
  },
});

export const getExportTool = gameplanTool(getExport, {
  description: "Answers one part of a generated document.",
  service: "exportService",
  done: ({ export: { title }, part }) => `Read part ${part} of "${title}"`,
  isHidden: true,
});

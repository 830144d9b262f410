import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { formatCount } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { brainstormSummary, tag } from "../entities/brainstorm.ts";
import { pageEntries, rowId } from "../entities/fields.ts";
import { toIso } from "../iso-time.ts";
import { listNewest, pageArguments } from "../list-page.ts";
import { defineOperation } from "interlock-edge/tools";
import { SUMMARY_COLUMNS, summaryRow } from "../rows/brainstorm-row.ts";
import { findProject } from "../rows/project-row.ts";

export const listBrainstorms = defineOperation({
  name: "list_brainstorms",
  kind: "read",
  input: v.strictObject({ projectId: rowId, tag: v.exactOptional(tag), ...pageArguments }),
  output: v.strictObject({ items: v.array(brainstormSummary), ...pageEntries }),
  run(sql, { projectId, tag: wanted, ...page }, caller) {
    const found = findProject(sql, caller, projectId);
    if (!found.ok) return found;
    const live = "project_id = ? AND deleted_at IS NULL";
    const tagged = `${live} AND EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)`;
    return ok(
      listNewest(sql, {
        row: v.object({ ...summaryRow.entries, seq: v.number() }),
        columns: SUMMARY_COLUMNS,
        table: "brainstorms",
        where: wanted === undefined ? live : tagged,
        bindings: [projectId, ...(wanted === undefined ? [] : [wanted])],
        page,
        show: (row) => ({ ...row, createdAt: toIso(row.createdAt) }),
      }),
    );
  },
});

export const listBrainstormsTool = gameplanTool(listBrainstorms, {
  description: "Lists the brainstorm sessions of a project, newest first.",
  service: "brainstormService",
  done: ({ total }) => `Listed ${formatCount(total, "brainstorm")}`,
});

import * as v from "valibot";
import { jsonText } from "./json-text.ts";
import { ok, type Result, type ToolFailure } from "interlock-edge/tools";
import { brainstorm, brainstormSummary, type Brainstorm } from "../entities/brainstorm.ts";
import { toIso } from "../iso-time.ts";
import type { WorkspaceCaller, WorkspaceReads } from "interlock-edge/tools";
import { refuse } from "../refuse.ts";
import { findLive, GONE } from "./entity-row.ts";

const json = <Item extends v.GenericSchema>(item: Item) => jsonText(v.array(item));

export const SUMMARY_COLUMNS = `id, project_id AS projectId, title, author, tags, source,
  json_array_length(outputs) AS outputs, revision, created_at AS createdAt,
  created_by AS createdBy`;

export const summaryRow = v.object({
  ...brainstormSummary.entries,
  tags: json(v.string()),
  createdAt: v.number(),
});

const brainstormRow = v.object({
  ...brainstorm.entries,
  tags: json(v.string()),
  outputs: json(brainstorm.entries.outputs.item),
  threadIds: json(v.string()),
  createdAt: v.number(),
});

/** Finds a brainstorm that is not in the bin. Fails: not_found, stale. */
export function findBrainstorm(
  sql: WorkspaceReads,
  caller: WorkspaceCaller,
  reference: { readonly id: string; readonly revision?: number },
): Result<Brainstorm, ToolFailure> {
  const found = findLive(sql, caller, { entity: "brainstorm", ...reference });
  if (!found.ok) return found;
  const row = sql.first(
    brainstormRow,
    `SELECT id, project_id AS projectId, title, author, tags, source, outputs, revision,
       created_at AS createdAt, created_by AS createdBy, content, thread_ids AS threadIds
     FROM brainstorms WHERE id = ?`,
    found.value.id,
  );
  if (!row) return refuse("not_found", GONE);
  return ok({ ...row, createdAt: toIso(row.createdAt) });
}

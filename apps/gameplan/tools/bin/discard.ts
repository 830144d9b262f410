import * as v from "valibot";
import { ok, type Result, type ToolFailure } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { nameOf } from "../rows/entity-row.ts";
import { entityName, type EntityName } from "../entities/activity.ts";
import { binItem } from "../entities/bin-item.ts";
import { revision, rowId } from "../entities/fields.ts";
import { countRows } from "../list-page.ts";
import { defineOperation, type WorkspaceReads } from "interlock-edge/tools";
import { HAS_BOTH_SYSTEMS } from "../project/count-contents.ts";
import { refuse } from "../refuse.ts";
import { checkAuthor } from "../rows/check-author.ts";
import { checkThreadOpen } from "../rows/check-change.ts";
import type { EntityRow } from "../rows/entity-row.ts";
import { checkDraft } from "../version-plan/delete-version-plan.ts";
import { putIntoBin } from "./put-into-bin.ts";

/** Takes back a creation: the row goes into the bin, if nobody has built on it since. */
export const discard = defineOperation({
  name: "discard",
  kind: "write",
  input: v.strictObject({ entity: entityName, id: rowId, revision }),
  output: v.strictObject({ binItem }),
  run(sql, { entity, id, revision: expected }, caller) {
    const binned = putIntoBin(sql, caller, {
      entity,
      id,
      revision: expected,
      check(row) {
        if (entity === "idea_message" && row.createdBy !== caller.authorId) {
          return refuse("forbidden", "Only who wrote it may take it back.");
        }
        const allowed = checkAuthor(sql, caller, { entity, row });
        return allowed.ok ? (CHECKS[entity]?.(sql, row) ?? allowed) : allowed;
      },
    });
    return binned.ok ? ok({ binItem: binned.value }) : binned;
  },
});

type Check = (sql: WorkspaceReads, row: EntityRow) => Result<null, ToolFailure>;

const CHECKS: { readonly [Name in EntityName]?: Check } = {
  project: unused(["systems", "brainstorms", "plans", "threads", "exports"], "project_id = ?"),
  // What the system depends on goes with it, and comes back with it.
  system: (sql, row) => {
    const free = unused(["dependencies t"], `target_id = ?${HAS_BOTH_SYSTEMS}`)(sql, row);
    if (!free.ok) return free;
    const where = `system_id = ?
      AND plan_id IN (SELECT id FROM plans WHERE deleted_at IS NULL)`;
    const planned = countRows(sql, { table: "plan_systems", where, bindings: [row.id] });
    return planned > 0 ? refuseUsed() : ok(null);
  },
  version_plan: (sql, { id }) => checkDraft(sql, id),
  // A thread begins with at most one message, of its author.
  idea_thread: unused(["messages"], "thread_id = ? AND number > 1"),
  brainstorm: unused(["threads"], "brainstorm_id = ?"),
  idea_message: (sql, { id }) => checkThreadOpen(sql, id),
};

/** Refuses a row that rows of other tables use. */
function unused(tables: readonly string[], where: string): Check {
  return (sql, { id }) => {
    const isUsed = tables.some(
      (table) =>
        countRows(sql, { table, where: `${where} AND deleted_at IS NULL`, bindings: [id] }) > 0,
    );
    return isUsed ? refuseUsed() : ok(null);
  };
}

function refuseUsed(): Result<null, ToolFailure> {
  return refuse("stale", "Something uses it by now. Delete it instead.");
}

export const discardTool = gameplanTool(discard, {
  description: "Takes back a creation: the new row goes into the bin, if nothing uses it yet.",
  service: "binService",
  mutationType: "delete",
  done: ({ binItem: { entity, name } }) => `Discarded ${nameOf(entity)} "${name}"`,
  isHidden: true,
});

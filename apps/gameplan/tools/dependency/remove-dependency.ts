import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { putIntoBin } from "../bin/put-into-bin.ts";
import { binItem } from "../entities/bin-item.ts";
import { revision, rowId } from "../entities/fields.ts";
import { defineOperation } from "interlock-edge/tools";
import { refuse } from "../refuse.ts";
import { findSystem } from "../rows/system-row.ts";
import { TAKE_FROM_BIN } from "../row-args.ts";

export const removeDependency = defineOperation({
  name: "remove_dependency",
  kind: "write",
  input: v.strictObject({
    sourceSystemId: v.pipe(rowId, v.description("The system that depends on the other one.")),
    targetSystemId: rowId,
    revision: v.exactOptional(revision),
  }),
  output: v.strictObject({ binItem }),
  run(sql, { sourceSystemId, targetSystemId, ...expected }, caller) {
    const source = findSystem(sql, caller, { id: sourceSystemId });
    if (!source.ok) return source;
    const row = sql.first(
      v.object({ id: v.string() }),
      "SELECT id FROM dependencies WHERE source_id = ? AND target_id = ? AND deleted_at IS NULL",
      sourceSystemId,
      targetSystemId,
    );
    if (!row) return refuse("not_found", "There is no such dependency.", "/targetSystemId");
    const binned = putIntoBin(sql, caller, { entity: "dependency", id: row.id, ...expected });
    return binned.ok ? ok({ binItem: binned.value }) : binned;
  },
});

export const removeDependencyTool = gameplanTool(removeDependency, {
  description: "Removes the dependency of one system on another one.",
  service: "dependencyService",
  mutationType: "delete",
  done: ({ binItem: { name } }) => `Removed dependency: ${name}`,
  undo: TAKE_FROM_BIN,
});

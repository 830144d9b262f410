import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { readChangelog } from "../changelog.ts";
import { linkedSystem, type LinkedSystem } from "../entities/dependency.ts";
import { rowId } from "../entities/fields.ts";
import { changelogEntry, gameSystem } from "../entities/game-system.ts";
import { defineOperation, type WorkspaceReads } from "interlock-edge/tools";
import { findSystem } from "../rows/system-row.ts";

const NEWEST_CHANGES = 20;

export const getGameSystem = defineOperation({
  name: "get_game_system",
  kind: "read",
  input: v.strictObject({ systemId: rowId }),
  output: v.strictObject({
    system: gameSystem,
    dependsOn: v.array(linkedSystem),
    requiredBy: v.array(linkedSystem),
    changelog: v.array(changelogEntry),
  }),
  run(sql, { systemId }, caller) {
    const found = findSystem(sql, caller, { id: systemId });
    if (!found.ok) return found;
    return ok({
      system: found.value,
      dependsOn: readLinks(sql, systemId, "source"),
      requiredBy: readLinks(sql, systemId, "target"),
      changelog: readChangelog(sql, systemId, NEWEST_CHANGES),
    });
  },
});

/** Reads the systems at the other ends of a system's dependencies, which are not in the bin. */
export function readLinks(
  sql: WorkspaceReads,
  systemId: string,
  end: "source" | "target",
): LinkedSystem[] {
  const other = end === "source" ? "target" : "source";
  const rows = sql.rows(
    v.object(linkedSystem.entries),
    `SELECT s.id AS systemId, s.name, s.slug AS systemSlug, d.type FROM dependencies d
     JOIN systems s ON s.id = d.${other}_id
     WHERE d.${end}_id = ? AND d.deleted_at IS NULL AND s.deleted_at IS NULL ORDER BY s.slug`,
    systemId,
  );
  return [...rows];
}

export const getGameSystemTool = gameplanTool(getGameSystem, {
  description:
    "Shows one game system with all its texts, what it depends on, what depends on it, and its changelog.",
  service: "gameSystemService",
  done: ({ system: { name } }) => `Read game system "${name}"`,
});

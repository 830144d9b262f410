import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { changeFields } from "../change-fields.ts";
import { nameText, revision, rowId } from "../entities/fields.ts";
import { changelogEntry, gameSystem, systemSlug } from "../entities/game-system.ts";
import { defineOperation } from "interlock-edge/tools";
import { recordChange } from "../record-change.ts";
import { refuse } from "../refuse.ts";
import { findSystem } from "../rows/system-row.ts";
import { systemFields } from "./system-fields.ts";
import { rowArgs } from "../row-args.ts";

export const updateGameSystem = defineOperation({
  name: "update_game_system",
  kind: "write",
  input: v.strictObject({
    systemId: rowId,
    revision: v.exactOptional(revision),
    changeSummary: v.pipe(
      v.string(),
      v.regex(/\S/),
      v.maxLength(400),
      v.description("What changes and why, for the changelog."),
    ),
    name: v.exactOptional(nameText),
    systemSlug: v.exactOptional(systemSlug),
    ...systemFields,
  }),
  output: v.strictObject({ system: gameSystem, entry: changelogEntry }),
  run(sql, { systemId, revision: expected, changeSummary, ...next }, caller) {
    if (Object.keys(next).length === 0) return refuse("validation", "Nothing would change.");
    const found = findSystem(sql, caller, {
      id: systemId,
      ...(expected !== undefined && { revision: expected }),
    });
    if (!found.ok) return found;
    const system = found.value;
    const entry = changeFields(sql, caller, {
      entity: "system",
      row: system,
      next,
      summary: changeSummary,
    });
    if (!entry.ok) return entry;
    recordChange(sql, caller, {
      projectId: system.projectId,
      action: "updated",
      entity: "system",
      id: systemId,
      summary: `Updated game system "${next.name ?? system.name}": ${changeSummary}`,
    });
    const changed = findSystem(sql, caller, { id: systemId });
    return changed.ok ? ok({ system: changed.value, entry: entry.value }) : changed;
  },
});

export const updateGameSystemTool = gameplanTool(updateGameSystem, {
  description:
    "Changes fields of a game system and adds the change to its changelog. Give only the fields that change; an empty text removes a text.",
  service: "gameSystemService",
  mutationType: "update",
  done: ({ system: { name } }) => `Updated game system "${name}"`,
  undo: {
    tool: "revert",
    args: ({ system: changed }) => rowArgs("system", changed),
  },
  maxArgumentsBytes: 65_536,
});

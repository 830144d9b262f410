import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { nameText, rowId } from "../entities/fields.ts";
import { gameSystem, systemSlug } from "../entities/game-system.ts";
import { defineOperation } from "interlock-edge/tools";
import { addSystem } from "./add-system.ts";
import { systemFields } from "./system-fields.ts";
import { rowArgs } from "../row-args.ts";

export const createGameSystem = defineOperation({
  name: "create_game_system",
  kind: "write",
  input: v.strictObject({
    projectId: rowId,
    name: v.pipe(nameText, v.description("Human-readable name.")),
    systemSlug: v.pipe(systemSlug, v.description('Identifier, for example "combat-engine".')),
    ...systemFields,
  }),
  output: v.strictObject({ system: gameSystem }),
  run(sql, { projectId, ...system }, caller) {
    const added = addSystem(sql, caller, { projectId, system, verb: "Created" });
    return added.ok ? ok({ system: added.value }) : added;
  },
});

export const createGameSystemTool = gameplanTool(createGameSystem, {
  description:
    "Creates a game system in a project. A game system is a distinct gameplay mechanic or subsystem, for example combat, inventory or progression. Give at least a name and a slug.",
  service: "gameSystemService",
  mutationType: "create",
  done: ({ system: { name, systemSlug: slug } }) => `Created game system "${name}" (${slug})`,
  undo: {
    tool: "discard",
    args: ({ system: made }) => rowArgs("system", made),
  },
  maxArgumentsBytes: 65_536,
});

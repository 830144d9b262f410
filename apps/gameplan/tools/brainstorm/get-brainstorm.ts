import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { brainstorm } from "../entities/brainstorm.ts";
import { rowId } from "../entities/fields.ts";
import { defineOperation } from "interlock-edge/tools";
import { findBrainstorm } from "../rows/brainstorm-row.ts";

export const getBrainstorm = defineOperation({
  name: "get_brainstorm",
  kind: "read",
  input: v.strictObject({ brainstormId: rowId }),
  output: v.strictObject({ brainstorm }),
  run(sql, { brainstormId: id }, caller) {
    const found = findBrainstorm(sql, caller, { id });
    return found.ok ? ok({ brainstorm: found.value }) : found;
  },
});

export const getBrainstormTool = gameplanTool(getBrainstorm, {
  description:
    "Shows a brainstorm session with its notes and its synthesis: summary, themes, ideas, decisions, questions.",
  service: "brainstormService",
  done: ({ brainstorm: { title } }) => `Read brainstorm "${title}"`,
});

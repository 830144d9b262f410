import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { nameOr } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { IN_BIN } from "../bin/remove-rows.ts";
import { getBrainstorm } from "./get-brainstorm.ts";
import { putIntoBin } from "../bin/put-into-bin.ts";
import { binItem } from "../entities/bin-item.ts";
import { readRevision, rowId } from "../entities/fields.ts";
import { defineOperation } from "interlock-edge/tools";
import { checkAuthor } from "../rows/check-author.ts";
import { TAKE_FROM_BIN } from "../row-args.ts";

/** Who added the brainstorm may delete it, and the author of its project. */
export const deleteBrainstorm = defineOperation({
  name: "delete_brainstorm",
  kind: "write",
  input: v.strictObject({ brainstormId: rowId, revision: readRevision }),
  output: v.strictObject({ binItem }),
  run(sql, { brainstormId: id, ...expected }, caller) {
    const binned = putIntoBin(sql, caller, {
      entity: "brainstorm",
      id,
      ...expected,
      check: (row) => checkAuthor(sql, caller, { entity: "brainstorm", row }),
    });
    return binned.ok ? ok({ binItem: binned.value }) : binned;
  },
});

export const deleteBrainstormTool = gameplanTool(deleteBrainstorm, {
  description:
    "Deletes a brainstorm session. A person approves it, and can restore it for 30 days.",
  service: "brainstormService",
  mutationType: "delete",
  done: ({ binItem: { name } }) => `Deleted brainstorm "${name}"`,
  risk: "MEDIUM_RISK_WRITE",
  consent: {
    describe: ({ brainstormId }, { brainstorm }) => ({
      action: `Delete brainstorm ${nameOr(brainstorm, brainstormId)}`,
      consequence: "The session and its outputs go into the bin. They can be restored for 30 days.",
    }),
    shows: ["brainstorm", "author", "outputs", "bin"],
    async preview({ brainstormId }, read) {
      const found = await read(getBrainstorm, { brainstormId });
      if (!found.ok) return undefined;
      const { title, author, outputs } = found.value.brainstorm;
      return {
        before: { brainstorm: title, author, outputs: outputs.length },
        after: IN_BIN,
      };
    },
  },
  undo: TAKE_FROM_BIN,
});

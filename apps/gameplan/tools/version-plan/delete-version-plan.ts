import * as v from "valibot";
import { ok, type Result, type ToolFailure } from "interlock-edge/tools";
import { nameOr } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { IN_BIN } from "../bin/remove-rows.ts";
import { getVersionPlan } from "./get-version-plan.ts";
import { putIntoBin } from "../bin/put-into-bin.ts";
import { binItem } from "../entities/bin-item.ts";
import { readRevision, rowId } from "../entities/fields.ts";
import { countRows } from "../list-page.ts";
import { defineOperation, type WorkspaceReads } from "interlock-edge/tools";
import { refuse } from "../refuse.ts";
import { TAKE_FROM_BIN } from "../row-args.ts";

export const deleteVersionPlan = defineOperation({
  name: "delete_version_plan",
  kind: "write",
  input: v.strictObject({ planId: rowId, revision: readRevision }),
  output: v.strictObject({ binItem }),
  run(sql, { planId: id, ...expected }, caller) {
    const binned = putIntoBin(sql, caller, {
      entity: "version_plan",
      id,
      ...expected,
      check: () => checkDraft(sql, id),
    });
    return binned.ok ? ok({ binItem: binned.value }) : binned;
  },
});

/** A finalized plan never changes, so nobody can delete it. */
export function checkDraft(sql: WorkspaceReads, id: string): Result<null, ToolFailure> {
  const where = "id = ? AND status = 'draft'";
  return countRows(sql, { table: "plans", where, bindings: [id] }) > 0
    ? ok(null)
    : refuse("conflict", FINAL, "/planId");
}

const FINAL = "This plan is final. Copy it as a draft to change it.";

export const deleteVersionPlanTool = gameplanTool(deleteVersionPlan, {
  description:
    "Deletes a draft of a version plan. A person approves it, and can restore it for 30 days. A finalized plan stays.",
  service: "versionPlanService",
  mutationType: "delete",
  done: ({ binItem: { name } }) => `Deleted version plan ${name}`,
  risk: "MEDIUM_RISK_WRITE",
  consent: {
    describe: ({ planId }, { plan }) => ({
      action: `Delete version plan ${nameOr(plan, planId)}`,
      consequence: "The draft goes into the bin; its systems stay. It can be restored for 30 days.",
    }),
    shows: ["plan", "status", "systems", "bin"],
    async preview({ planId }, read) {
      const found = await read(getVersionPlan, { planId });
      if (!found.ok) return undefined;
      const { version, status, systems } = found.value.plan;
      return {
        before: { plan: version, status, systems },
        after: IN_BIN,
      };
    },
  },
  undo: TAKE_FROM_BIN,
});

import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { rowId } from "../entities/fields.ts";
import { versionLabel, versionPlan } from "../entities/version-plan.ts";
import { defineOperation } from "interlock-edge/tools";
import { findPlan } from "../rows/plan-row.ts";
import { addPlan } from "./add-plan.ts";
import { rowArgs } from "../row-args.ts";

/** The way on from a finalized plan. Systems in the bin are left out. */
export const copyVersionPlan = defineOperation({
  name: "copy_version_plan",
  kind: "write",
  input: v.strictObject({ planId: rowId, version: versionLabel }),
  output: v.strictObject({ plan: versionPlan }),
  run(sql, { planId, version }, caller) {
    const found = findPlan(sql, caller, { id: planId });
    if (!found.ok) return found;
    const { projectId, name, goal, phases } = found.value;
    const copied = addPlan(sql, caller, {
      projectId,
      version,
      name,
      goal,
      phases: phases.map((phase) => ({
        name: phase.name,
        systems: phase.systems.filter(({ exists }) => exists),
      })),
    });
    return copied.ok ? ok({ plan: copied.value }) : copied;
  },
});

export const copyVersionPlanTool = gameplanTool(copyVersionPlan, {
  description: "Copies a version plan as a draft under another version.",
  service: "versionPlanService",
  mutationType: "create",
  done: ({ plan: { version } }) => `Copied a version plan as draft ${version}`,
  undo: {
    tool: "discard",
    args: ({ plan }) => rowArgs("version_plan", plan),
  },
  isHidden: true,
});

import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { nameOr } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { getVersionPlan } from "./get-version-plan.ts";
import { readRevision, rowId } from "../entities/fields.ts";
import { versionPlan } from "../entities/version-plan.ts";
import { defineOperation } from "interlock-edge/tools";
import { recordChange } from "../record-change.ts";
import { refuse } from "../refuse.ts";
import { findPlan, systemIdsOf } from "../rows/plan-row.ts";
import { checkScope, refuseScope } from "./check-scope.ts";
import { checkDraft } from "./delete-version-plan.ts";

export const finalizeVersionPlan = defineOperation({
  name: "finalize_version_plan",
  kind: "write",
  input: v.strictObject({ planId: rowId, revision: readRevision }),
  output: v.strictObject({ plan: versionPlan }),
  run(sql, { planId: id, ...expected }, caller) {
    const found = findPlan(sql, caller, { id, ...expected });
    if (!found.ok) return found;
    const plan = found.value;
    const draft = checkDraft(sql, id);
    if (!draft.ok) return draft;
    if (plan.systems === 0)
      return refuse("validation", "A plan without systems cannot be finalized.");
    const { scope } = checkScope(sql, plan.projectId, systemIdsOf(plan));
    if (!scope.valid && scope.missingTotal === 0) {
      return refuse("validation", BINNED);
    }
    if (!scope.valid) return refuseScope(scope);
    // From now on the plan keeps the names that its systems have today.
    for (const { systems } of plan.phases) {
      for (const { systemId, name, systemSlug, mvpCriticality } of systems) {
        sql.run(
          `UPDATE plan_systems SET name = ?, slug = ?, mvp_criticality = ?
           WHERE plan_id = ? AND system_id = ?`,
          name,
          systemSlug,
          mvpCriticality,
          id,
          systemId,
        );
      }
    }
    sql.run(
      "UPDATE plans SET status = 'finalized', finalized_at = ?, revision = ? WHERE id = ?",
      caller.nowMs,
      plan.revision + 1,
      id,
    );
    recordChange(sql, caller, {
      projectId: plan.projectId,
      action: "finalized",
      entity: "version_plan",
      id,
      summary: `Finalized version plan ${plan.version}`,
    });
    const finalized = findPlan(sql, caller, { id });
    return finalized.ok ? ok({ plan: finalized.value }) : finalized;
  },
});

const BINNED = "A system of this plan is in the bin. Restore it first.";

export const finalizeVersionPlanTool = gameplanTool(finalizeVersionPlan, {
  description:
    "Locks a version plan for good. A person approves it. Nobody can undo it; to change it, people copy it as a draft.",
  service: "versionPlanService",
  done: ({ plan: { version } }) => `Finalized version plan ${version}`,
  risk: "MEDIUM_RISK_WRITE",
  semantics: "irreversible_pivot",
  consent: {
    describe: ({ planId }, { plan }) => ({
      action: `Finalize version plan ${nameOr(plan, planId)}`,
      consequence:
        "The plan is locked for good. Nobody can change, delete or reopen it. To change it, copy it as a draft.",
    }),
    shows: ["plan", "status", "phases", "systems"],
    async preview({ planId }, read) {
      const found = await read(getVersionPlan, { planId });
      if (!found.ok) return undefined;
      const { plan } = found.value;
      const systems = plan.phases.flatMap((phase) => phase.systems.map(({ name }) => name));
      const shown = { plan: plan.version, phases: plan.phases.length, systems };
      return {
        before: { ...shown, status: plan.status },
        after: { ...shown, status: "finalized" },
      };
    },
  },
});

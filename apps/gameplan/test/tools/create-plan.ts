import type { ScopeCheck, VersionPlan } from "../../tools/entities/version-plan.ts";
import { addPlanPhases } from "../../tools/version-plan/add-plan-phases.ts";
import { createVersionPlanTool } from "../../tools/version-plan/create-version-plan.ts";
import { draftVersionPlan } from "../../tools/version-plan/draft-version-plan.ts";
import { validateVersionScope } from "../../tools/version-plan/validate-version-scope.ts";
import { makeSteps } from "./make-steps.ts";
import type { MemoryWorkspace } from "./memory-workspace.ts";

interface NewPlan {
  readonly projectId: string;
  readonly version: string;
  readonly systemIds: string[];
  readonly allowIncomplete?: boolean;
}

interface NewlyPlanned {
  readonly plan: VersionPlan;
  readonly scope: ScopeCheck;
}

/** Makes the steps of create_version_plan with the arguments that the saga gives them. */
export function createPlan(workspace: MemoryWorkspace, args: NewPlan): NewlyPlanned {
  const operations = [validateVersionScope, draftVersionPlan, addPlanPhases];
  const steps = { saga: createVersionPlanTool, operations };
  return makeSteps(workspace, steps, args) as NewlyPlanned;
}

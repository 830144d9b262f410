import type { StepResults } from "../../../src/contracts/definition.ts";
import type { ScopeCheck, VersionPlan } from "../../../src/tools/gameplan/entities/version-plan.ts";
import { addPlanPhases } from "../../../src/tools/gameplan/version-plan/add-plan-phases.ts";
import { createVersionPlanTool } from "../../../src/tools/gameplan/version-plan/create-version-plan.ts";
import { draftVersionPlan } from "../../../src/tools/gameplan/version-plan/draft-version-plan.ts";
import { validateVersionScope } from "../../../src/tools/gameplan/version-plan/validate-version-scope.ts";
import type { MemoryWorkspace } from "./memory-workspace.ts";

interface NewPlan {
  readonly projectId: string;
  readonly version: string;
  readonly systemIds: string[];
  readonly allowIncomplete?: boolean;
}

/** Makes the steps of create_version_plan with the arguments that the saga gives them. */
export function createPlan(
  workspace: MemoryWorkspace,
  args: NewPlan,
): { readonly plan: VersionPlan; readonly scope: ScopeCheck } {
  const outputs = new Map<string, object>();
  const results: StepResults = {
    of: ({ name }) => ({ result: { data: outputs.get(name.slice("gameplan__".length)) } }),
  };
  const operations = [validateVersionScope, draftVersionPlan, addPlanPhases];
  createVersionPlanTool.saga?.steps.forEach((step, index) => {
    const operation = operations[index] as typeof draftVersionPlan;
    const made = workspace.call(operation, step.arguments(args as never, results) as typeof args);
    outputs.set(operation.name, made);
  });
  const output: unknown = createVersionPlanTool.saga?.result(args as never, results);
  return (output as { readonly result: { readonly data: ReturnType<typeof createPlan> } }).result
    .data;
}

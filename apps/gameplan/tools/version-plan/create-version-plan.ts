import * as v from "valibot";
import { defineSaga } from "interlock-edge/tools";
import { scopeCheck, versionPlan, type ScopeCheck } from "../entities/version-plan.ts";
import { toolCallResult } from "../entities/tool-call-result.ts";
import { MOST_RESULT_BYTES } from "../gameplan-tool.ts";
import { REFUSALS } from "../refuse.ts";
import { addPlanPhasesTool } from "./add-plan-phases.ts";
import { draftVersionPlan, draftVersionPlanTool, type PhaseInput } from "./draft-version-plan.ts";
import { validateVersionScopeTool } from "./validate-version-scope.ts";

const { input } = draftVersionPlan;
const output = toolCallResult(input, v.strictObject({ plan: versionPlan, scope: scopeCheck }));

/** Checks the scope, adds the draft, then its phases. A draft whose phases fail is taken back. */
export const createVersionPlanTool = defineSaga({
  name: "gameplan__create_version_plan",
  version: "1.0.0",
  description:
    "Creates a draft of a version with selected systems, in phases. Refuses a scope that lacks required systems and names them.",
  input,
  output,
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: {
    args: Object.keys(input.entries),
    output: Object.keys(output.entries),
  },
  runtime: { maxArgumentsBytes: 32_768, maxResultBytes: MOST_RESULT_BYTES },
  security: { untrustedOutput: true },
  errors: REFUSALS,
  transactional: { compensationTool: "gameplan__discard" },
  compensate: (_args, { result }) => {
    const { id, revision } = result.data.plan;
    return { entity: "version_plan", id, revision };
  },
  steps: [
    {
      tool: validateVersionScopeTool,
      arguments: ({ projectId, systemIds }) => ({ projectId, systemIds }),
    },
    { tool: draftVersionPlanTool, arguments: (args) => args },
    {
      tool: addPlanPhasesTool,
      arguments({ phases }, results) {
        const { plan } = results.of(draftVersionPlanTool).result.data;
        const { scope } = results.of(validateVersionScopeTool).result.data;
        const { id, revision } = plan;
        return { planId: id, revision, phases: phases ?? phasesInOrder(scope) };
      },
    },
  ],
  result(payload, results) {
    const last = results.of(addPlanPhasesTool);
    const { plan } = last.result.data;
    const { scope } = results.of(validateVersionScopeTool).result.data;
    return {
      toolName: "gameplan__create_version_plan",
      description: `Created version plan ${plan.version}`,
      apiCall: {
        service: "versionPlanService.createVersionPlan",
        payload,
        mutationType: "create" as const,
      },
      result: { success: true as const, data: { plan, scope } },
      executedAt: last.executedAt,
    };
  },
});

const MOST_PHASES = 30;

/** One phase for each level of the implementation order. The last one holds what is left. */
function phasesInOrder({ order }: ScopeCheck): readonly PhaseInput[] {
  const levels = Map.groupBy(order, ({ level }) => Math.min(level, MOST_PHASES - 1));
  return [...levels.values()].map((systems, index) => ({
    name: `Phase ${index + 1}`,
    systemIds: systems.map(({ systemId }) => systemId),
  }));
}

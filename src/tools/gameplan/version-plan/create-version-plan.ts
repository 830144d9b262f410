import * as v from "valibot";
import { ok, type Result, type ToolFailure } from "../../../exports/tools.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { longText, nameText, rowId } from "../entities/fields.ts";
import {
  scopeCheck,
  versionLabel,
  versionPlan,
  type ScopeCheck,
} from "../entities/version-plan.ts";
import { readEdges } from "../graph/read-graph.ts";
import { defineOperation, type WorkspaceReads } from "../../../exports/tools.ts";
import { refuse } from "../refuse.ts";
import { findProject } from "../rows/project-row.ts";
import { addPlan } from "./add-plan.ts";
import { checkScope, checkSystemIds, refuseScope } from "./check-scope.ts";
import { planSystemIds } from "./validate-version-scope.ts";

const phasesInput = v.pipe(
  v.array(v.strictObject({ name: nameText, systemIds: planSystemIds })),
  v.minLength(1),
  v.maxLength(30),
);

type PhaseInput = v.InferOutput<typeof phasesInput>[number];

export const createVersionPlan = defineOperation({
  name: "create_version_plan",
  kind: "write",
  input: v.strictObject({
    projectId: rowId,
    version: v.pipe(versionLabel, v.description('For example "0.1".')),
    name: v.exactOptional(nameText),
    goal: v.exactOptional(v.pipe(longText, v.description("What the version is for."))),
    systemIds: planSystemIds,
    phases: v.exactOptional(
      v.pipe(
        phasesInput,
        v.description(
          "Every system of systemIds once, in the order of work. Absent: the implementation order.",
        ),
      ),
    ),
    allowIncomplete: v.exactOptional(
      v.pipe(
        v.boolean(),
        v.description("Keep a draft that lacks required systems. It cannot be finalized."),
      ),
    ),
  }),
  output: v.strictObject({ plan: versionPlan, scope: scopeCheck }),
  run(sql, { projectId, systemIds, ...args }, caller) {
    const found = findProject(sql, caller, projectId);
    if (!found.ok) return found;
    const { scope, nodes } = checkScope(sql, projectId, systemIds);
    const known = checkSystemIds(systemIds, nodes);
    if (!known.ok) return known;
    if (!scope.valid && args.allowIncomplete !== true) return refuseScope(scope);
    const checked = args.phases && checkPhases(sql, projectId, { systemIds, phases: args.phases });
    if (checked?.ok === false) return checked;
    const phases = (args.phases ?? phasesInOrder(scope)).map(({ name, systemIds: ids }) => ({
      name,
      systems: ids.flatMap((id) => nodes.get(id) ?? []),
    }));
    const { version, name = `Version ${version}`, goal = "" } = args;
    const added = addPlan(sql, caller, { projectId, version, name, goal, phases });
    return added.ok ? ok({ plan: added.value, scope }) : added;
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

/** Phases hold each system once, and nothing before what it requires. */
function checkPhases(
  sql: WorkspaceReads,
  projectId: string,
  { systemIds, phases }: { systemIds: readonly string[]; phases: readonly PhaseInput[] },
): Result<null, ToolFailure> {
  const placed = phases.flatMap(({ systemIds: ids }) => ids);
  const isPartition =
    placed.length === systemIds.length &&
    new Set(placed).size === placed.length &&
    placed.every((id) => systemIds.includes(id));
  if (!isPartition)
    return refuse("validation", "every system of systemIds in one phase", "/phases");
  const phaseOf = new Map(
    phases.flatMap(({ systemIds: ids }, index) => ids.map((id) => [id, index] as const)),
  );
  const early = readEdges(sql, projectId).find(({ sourceSystemId, targetSystemId, type }) => {
    const own = phaseOf.get(sourceSystemId);
    const needed = phaseOf.get(targetSystemId);
    return type === "requires" && own !== undefined && needed !== undefined && needed > own;
  });
  if (!early) return ok(null);
  return refuse(
    "validation",
    `phases in which ${early.sourceSystemId} is not before ${early.targetSystemId}, which it requires`,
    "/phases",
  );
}

export const createVersionPlanTool = gameplanTool(createVersionPlan, {
  description:
    "Creates a draft of a version with selected systems, in phases. Refuses a scope that lacks required systems and names them.",
  service: "versionPlanService",
  mutationType: "create",
  done: ({ plan: { version } }) => `Created version plan ${version}`,
  undo: {
    tool: "discard",
    args: ({ plan: { id, revision } }) => ({ entity: "version_plan", id, revision }),
  },
  maxArgumentsBytes: 32_768,
});

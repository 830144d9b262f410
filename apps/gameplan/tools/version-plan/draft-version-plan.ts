import * as v from "valibot";
import { ok, type Result, type ToolFailure } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { longText, nameText, rowId } from "../entities/fields.ts";
import { versionLabel, versionPlan } from "../entities/version-plan.ts";
import { readEdgesOf } from "../graph/read-graph.ts";
import { defineOperation, type WorkspaceReads } from "interlock-edge/tools";
import { refuse } from "../refuse.ts";
import { findProject } from "../rows/project-row.ts";
import { addPlan, type NewPlan } from "./add-plan.ts";
import { checkScope, checkSystemIds, findNodes, refuseScope } from "./check-scope.ts";
import { planSystemIds } from "./validate-version-scope.ts";
import { rowArgs } from "../row-args.ts";

export const phasesInput = v.pipe(
  v.array(v.strictObject({ name: nameText, systemIds: planSystemIds })),
  v.minLength(1),
  v.maxLength(30),
);

export type PhaseInput = v.InferOutput<typeof phasesInput>[number];

/** Adds a draft without phases. It checks the whole plan, so that a wrong one leaves nothing. */
export const draftVersionPlan = defineOperation({
  name: "draft_version_plan",
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
  output: v.strictObject({ plan: versionPlan }),
  run(sql, { projectId, systemIds, ...args }, caller) {
    const found = findProject(sql, caller, projectId);
    if (!found.ok) return found;
    const { scope, nodes } = checkScope(sql, projectId, systemIds);
    const known = checkSystemIds(systemIds, nodes);
    if (!known.ok) return known;
    if (!scope.valid && args.allowIncomplete !== true) return refuseScope(scope);
    const { version, phases, name = `Version ${version}`, goal = "" } = args;
    const whole = phases ? checkPartition(systemIds, phases) : ok(null);
    const checked = phases && whole.ok ? checkOrder(sql, { phases, nodes }) : whole;
    if (!checked.ok) return checked;
    const added = addPlan(sql, caller, { projectId, version, name, goal, phases: [] });
    return added.ok ? ok({ plan: added.value }) : added;
  },
});

/** Finds the systems of phases. Fails: not_found, validation. */
export function findPhases(
  sql: WorkspaceReads,
  projectId: string,
  phases: readonly PhaseInput[],
): Result<NewPlan["phases"], ToolFailure> {
  const ids = phases.flatMap(({ systemIds }) => systemIds);
  const nodes = findNodes(sql, projectId, ids);
  const known = checkSystemIds(ids, nodes);
  const checked = known.ok ? checkOrder(sql, { phases, nodes }) : known;
  if (!checked.ok) return checked;
  const placed = phases.map(({ name, systemIds }) => ({
    name,
    systems: systemIds.flatMap((systemId) => nodes.get(systemId) ?? []),
  }));
  return ok(placed);
}

interface PlannedPhases {
  readonly phases: readonly PhaseInput[];
  readonly nodes: ReadonlyMap<string, { readonly name: string }>;
}

/** Phases hold each system of a plan once. */
function checkPartition(
  systemIds: readonly string[],
  phases: readonly PhaseInput[],
): Result<null, ToolFailure> {
  const wanted = new Set(systemIds);
  const placed = phases.flatMap(({ systemIds: ids }) => ids);
  const isPartition =
    placed.length === systemIds.length &&
    new Set(placed).size === placed.length &&
    placed.every((id) => wanted.has(id));
  return isPartition
    ? ok(null)
    : refuse("validation", "Each system belongs in one phase.", "/phases");
}

/** Nothing comes before what it requires. */
function checkOrder(
  sql: WorkspaceReads,
  { phases, nodes }: PlannedPhases,
): Result<null, ToolFailure> {
  const phaseOf = new Map(
    phases.flatMap(({ systemIds: ids }, index) => ids.map((id) => [id, index] as const)),
  );
  const early = readEdgesOf(sql, [...phaseOf.keys()]).find(
    ({ sourceSystemId, targetSystemId, type }) => {
      const own = phaseOf.get(sourceSystemId);
      const needed = phaseOf.get(targetSystemId);
      return type === "requires" && own !== undefined && needed !== undefined && needed > own;
    },
  );
  if (!early) return ok(null);
  const [source, target] = [early.sourceSystemId, early.targetSystemId].map(
    (id) => nodes.get(id)?.name ?? "",
  );
  const why = `"${source}" requires "${target}", so it cannot come first.`;
  return refuse("validation", why, "/phases");
}

export const draftVersionPlanTool = gameplanTool(draftVersionPlan, {
  description: "Adds a draft of a version without its phases.",
  service: "versionPlanService",
  mutationType: "create",
  done: ({ plan: { version } }) => `Drafted version plan ${version}`,
  undo: {
    tool: "discard",
    args: ({ plan }) => rowArgs("version_plan", plan),
  },
  isHidden: true,
  maxArgumentsBytes: 32_768,
});

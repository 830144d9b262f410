import * as v from "valibot";
import { ok } from "interlock-edge/tools";
import { gameplanTool } from "../gameplan-tool.ts";
import { dependency, dependencyType } from "../entities/dependency.ts";
import { nameText, rowId } from "../entities/fields.ts";
import { findPath } from "../graph/dependency-graph.ts";
import { readEdges } from "../graph/read-graph.ts";
import { toIso } from "../iso-time.ts";
import { countRows } from "../list-page.ts";
import { defineOperation } from "interlock-edge/tools";
import { recordChange } from "../record-change.ts";
import { refuse } from "../refuse.ts";
import { findSystem } from "../rows/system-row.ts";

/** A page of the graph holds every dependency of each of its systems. */
const MOST_DEPENDENCIES = 200;

const LIVE_SOURCE = "source_id = ? AND deleted_at IS NULL";

export const addDependency = defineOperation({
  name: "add_dependency",
  kind: "write",
  input: v.strictObject({
    sourceSystemId: v.pipe(rowId, v.description("The system that depends on the other one.")),
    targetSystemId: v.pipe(rowId, v.description("The system that it depends on.")),
    type: dependencyType,
  }),
  output: v.strictObject({ dependency, sourceName: nameText, targetName: nameText }),
  run(sql, { sourceSystemId, targetSystemId, type }, caller) {
    const source = findSystem(sql, caller, { id: sourceSystemId });
    if (!source.ok) return source;
    const target = findSystem(sql, caller, { id: targetSystemId });
    if (!target.ok) return target;
    const { projectId } = source.value;
    if (target.value.projectId !== projectId) {
      return refuse("validation", "two systems of one project", "/targetSystemId");
    }
    const table = "dependencies";
    const where = `${LIVE_SOURCE} AND target_id = ?`;
    if (countRows(sql, { table, where, bindings: [sourceSystemId, targetSystemId] }) > 0) {
      return refuse("conflict", "two systems without a dependency in this direction");
    }
    const bindings = [sourceSystemId];
    if (countRows(sql, { table, where: LIVE_SOURCE, bindings }) >= MOST_DEPENDENCIES) {
      return refuse("conflict", `at most ${MOST_DEPENDENCIES} dependencies of one system`);
    }
    const cycle = findPath(readEdges(sql, projectId), targetSystemId, sourceSystemId);
    if (cycle) return refuseCycle(cycle);
    const id = caller.newId();
    sql.run(
      `INSERT INTO dependencies (id, project_id, revision, created_at, created_by, source_id,
         target_id, type) VALUES (?, ?, 1, ?, ?, ?, ?, ?)`,
      id,
      projectId,
      caller.nowMs,
      caller.authorId,
      sourceSystemId,
      targetSystemId,
      type,
    );
    const summary = `Added dependency: ${source.value.name} ${type} ${target.value.name}`;
    recordChange(sql, caller, { projectId, action: "created", entity: "dependency", id, summary });
    return ok({
      dependency: {
        id,
        projectId,
        sourceSystemId,
        targetSystemId,
        type,
        revision: 1,
        createdAt: toIso(caller.nowMs),
        createdBy: caller.authorId,
      },
      sourceName: source.value.name,
      targetName: target.value.name,
    });
  },
});

const SHOWN_STEPS = 10;

/** Refuses a dependency that closes a cycle. `way` leads from the target back to the source. */
export function refuseCycle(way: readonly string[]): ReturnType<typeof refuse> {
  const steps = way.slice(0, SHOWN_STEPS).join(" -> ");
  const more = way.length > SHOWN_STEPS ? " -> ..." : "";
  return refuse(
    "validation",
    `a dependency that closes no cycle; the target depends on the source: ${steps}${more}`,
    "/targetSystemId",
  );
}

export const addDependencyTool = gameplanTool(addDependency, {
  description:
    "Says that one system requires, enhances or optionally uses another one. Refuses what would close a cycle.",
  service: "dependencyService",
  mutationType: "create",
  done: ({ dependency: { type }, sourceName, targetName }) =>
    `Added dependency: ${sourceName} ${type} ${targetName}`,
  undo: {
    tool: "discard",
    args: ({ dependency: made }) => ({
      entity: "dependency",
      id: made.id,
      revision: made.revision,
    }),
  },
});

import * as v from "valibot";
import { ok, type Result, type ToolFailure } from "interlock-edge/tools";
import { verbOf } from "../consent-words.ts";
import { gameplanTool } from "../gameplan-tool.ts";
import { dependency, dependencyType } from "../entities/dependency.ts";
import { nameText, rowId } from "../entities/fields.ts";
import { findPath } from "../graph/dependency-graph.ts";
import { readEdgesTo } from "../graph/read-graph.ts";
import { toIso } from "../iso-time.ts";
import { MOST_DEPENDENCIES } from "../markdown/find-links.ts";
import { countRows } from "../list-page.ts";
import { defineOperation, type WorkspaceReads } from "interlock-edge/tools";
import { addRow } from "../rows/add-row.ts";
import { refuse } from "../refuse.ts";
import { findSystem } from "../rows/system-row.ts";

const table = "dependencies";
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
      return refuse(
        "validation",
        "Both systems have to be in the same project.",
        "/targetSystemId",
      );
    }
    const bindings = [sourceSystemId];
    if (countRows(sql, { table, where: LIVE_SOURCE, bindings }) >= MOST_DEPENDENCIES) {
      return refuse("conflict", `A system has at most ${MOST_DEPENDENCIES} dependencies.`);
    }
    const free = checkLink(sql, [sourceSystemId, targetSystemId]);
    if (!free.ok) return free;
    const id = addRow(sql, caller, {
      entity: "dependency",
      projectId,
      columns: { source_id: sourceSystemId, target_id: targetSystemId, type },
      summary: `Added dependency: ${source.value.name} ${verbOf(type)} ${target.value.name}`,
    });
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

/** Refuses a dependency that stands already, or that closes a cycle. */
export function checkLink(
  sql: WorkspaceReads,
  [source, target]: readonly [source: string, target: string],
): Result<null, ToolFailure> {
  const where = `${LIVE_SOURCE} AND target_id = ?`;
  if (countRows(sql, { table, where, bindings: [source, target] }) > 0) {
    return refuse("conflict", "There is such a dependency already.");
  }
  const cycle = findPath(readEdgesTo(sql, source), target, source);
  return cycle ? refuseCycle(sql, cycle) : ok(null);
}

const SHOWN_STEPS = 10;

/** Refuses a dependency that closes a cycle. `way` leads from the target back to the source. */
export function refuseCycle(
  sql: WorkspaceReads,
  way: readonly string[],
): ReturnType<typeof refuse> {
  const steps = way.slice(0, SHOWN_STEPS).map((id) => {
    const named = sql.first(
      v.object({ name: v.string() }),
      "SELECT name FROM systems WHERE id = ?",
      id,
    );
    return named?.name ?? "a deleted system";
  });
  const more = way.length > SHOWN_STEPS ? " -> ..." : "";
  const why = `The systems would depend on each other in a circle: ${steps.join(" -> ")}${more}.`;
  return refuse("validation", why, "/targetSystemId");
}

export const addDependencyTool = gameplanTool(addDependency, {
  description:
    "Says that one system requires, enhances or optionally uses another one. Refuses what would close a cycle.",
  service: "dependencyService",
  mutationType: "create",
  done: ({ dependency: { type }, sourceName, targetName }) =>
    `Added dependency: ${sourceName} ${verbOf(type)} ${targetName}`,
  undo: {
    tool: "discard",
    args: ({ dependency: made }) => ({
      entity: "dependency",
      id: made.id,
      revision: made.revision,
    }),
  },
});

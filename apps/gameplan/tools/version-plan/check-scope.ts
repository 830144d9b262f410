import { ok, type Result, type ToolFailure } from "interlock-edge/tools";
import type { ScopeCheck } from "../entities/version-plan.ts";
import { missingFrom } from "../graph/dependency-graph.ts";
import { orderNodes, readEdgesOf, readNodesOf, type PlacelessNode } from "../graph/read-graph.ts";
import type { WorkspaceReads } from "interlock-edge/tools";
import { refuse } from "../refuse.ts";

const SHOWN_MISSING = 50;
const SHOWN_REQUIRERS = 3;

/** A scope, and by id the systems that it names or lacks. */
export interface CheckedScope {
  readonly scope: ScopeCheck;
  readonly nodes: ReadonlyMap<string, PlacelessNode>;
}

/**
 * Checks whether systems can be built without others: everything that they require must be in the
 * scope. Ids that are in the bin count as missing from the order, never as held.
 */
export function checkScope(
  sql: WorkspaceReads,
  projectId: string,
  systemIds: readonly string[],
): CheckedScope {
  const edges = readEdgesOf(sql, systemIds);
  const nodes = findNodes(sql, projectId, [
    ...systemIds,
    ...edges.map(({ targetSystemId }) => targetSystemId),
  ]);
  const held = systemIds.flatMap((id) => nodes.get(id) ?? []);
  const missing = [
    ...missingFrom(
      held.map(({ systemId }) => systemId),
      edges,
    ),
  ].flatMap(([id, requirers]) => {
    const node = nodes.get(id);
    if (!node) return [];
    const { systemId, name, systemSlug } = node;
    const requiredBy = requirers
      .slice(0, SHOWN_REQUIRERS)
      .flatMap((requirer) => nodes.get(requirer)?.name ?? []);
    return [{ systemId, name, systemSlug, requiredBy }];
  });
  const gone = systemIds.length - held.length;
  const scope = {
    valid: missing.length === 0 && gone === 0,
    missing: missing.slice(0, SHOWN_MISSING),
    missingTotal: missing.length,
    order: orderNodes(held, edges).map(({ systemId, name, level }) => ({ systemId, name, level })),
  };
  return { scope, nodes };
}

/** Finds systems of a project by their ids. */
export function findNodes(
  sql: WorkspaceReads,
  projectId: string,
  ids: readonly string[],
): ReadonlyMap<string, PlacelessNode> {
  return new Map(readNodesOf(sql, projectId, ids).map((node) => [node.systemId, node]));
}

/** Refuses ids that name no system of the project, and ids that stand twice. */
export function checkSystemIds(
  systemIds: readonly string[],
  nodes: ReadonlyMap<string, unknown>,
): Result<null, ToolFailure> {
  const unknown = systemIds.findIndex((id) => !nodes.has(id));
  if (unknown >= 0) {
    return refuse(
      "not_found",
      "One of the systems is not in this project.",
      `/systemIds/${unknown}`,
    );
  }
  return new Set(systemIds).size === systemIds.length
    ? ok(null)
    : refuse("validation", "A system can stand in a plan once.", "/systemIds");
}

const NAMED = 10;

/** Refuses a scope that lacks what its systems require. */
export function refuseScope({ missing, missingTotal }: ScopeCheck): ReturnType<typeof refuse> {
  const names = missing.slice(0, NAMED).map(({ name }) => `"${name}"`);
  const more = missingTotal > names.length ? ` and ${missingTotal - names.length} more` : "";
  const why = `The plan lacks ${names.join(", ")}${more}, which its systems require.`;
  return refuse("validation", why, "/systemIds");
}

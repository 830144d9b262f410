import type { DependencyType, GraphEdge } from "../entities/dependency.ts";

/** A dependency with its ends. The source depends on the target. */
export type Edge = GraphEdge;

/** Who depends on whom. Ids without an entry have no dependencies. */
export type Neighbours = ReadonlyMap<string, readonly Edge[]>;

/** Groups edges by the system that depends. */
export function groupBySource(edges: readonly Edge[]): Neighbours {
  return Map.groupBy(edges, ({ sourceSystemId }) => sourceSystemId);
}

/** Groups edges by the system that others depend on. */
export function groupByTarget(edges: readonly Edge[]): Neighbours {
  return Map.groupBy(edges, ({ targetSystemId }) => targetSystemId);
}

/**
 * Gives each id its level: 0 for what depends on nothing, else one more than the highest level that
 * it depends on. An id without a level lies on a cycle or behind one.
 * Contract: linear in ids and edges. Edges with another end are left out.
 */
export function levelsOf(
  ids: readonly string[],
  edges: readonly Edge[],
): ReadonlyMap<string, number> {
  const known = new Set(ids);
  const inside = edges.filter(
    (edge) => known.has(edge.sourceSystemId) && known.has(edge.targetSystemId),
  );
  const waitsFor = new Map(ids.map((id) => [id, 0]));
  for (const { sourceSystemId } of inside) {
    waitsFor.set(sourceSystemId, (waitsFor.get(sourceSystemId) ?? 0) + 1);
  }
  const dependents = groupByTarget(inside);
  const levels = new Map<string, number>();
  let ready = ids.filter((id) => waitsFor.get(id) === 0);
  for (let level = 0; ready.length > 0; level++) {
    const next: string[] = [];
    for (const id of ready) {
      levels.set(id, level);
      for (const { sourceSystemId } of dependents.get(id) ?? []) {
        const left = (waitsFor.get(sourceSystemId) ?? 0) - 1;
        waitsFor.set(sourceSystemId, left);
        if (left === 0) next.push(sourceSystemId);
      }
    }
    ready = next;
  }
  return levels;
}

/**
 * Finds a way from one system to another along dependencies: the ids on it, both ends included.
 * Undefined: there is none. Contract: linear; the shortest way.
 */
export function findPath(
  edges: readonly Edge[],
  from: string,
  to: string,
): readonly string[] | undefined {
  const after = waysTo(edges, to);
  if (!after.has(from)) return undefined;
  const path: string[] = [];
  for (let id: string | undefined = from; id !== undefined; id = after.get(id)) path.push(id);
  return path;
}

/**
 * Finds all that depends on a system, nearest first, and it. Each comes with the next one on its
 * shortest way to the system.
 */
function waysTo(edges: readonly Edge[], to: string): ReadonlyMap<string, string | undefined> {
  const byTarget = groupByTarget(edges);
  const after = new Map<string, string | undefined>([[to, undefined]]);
  // The map grows while its keys are read.
  for (const id of after.keys()) {
    for (const { sourceSystemId } of byTarget.get(id) ?? []) {
      if (!after.has(sourceSystemId)) after.set(sourceSystemId, id);
    }
  }
  return after;
}

/** A system that a change reaches, over how many dependencies, and how strongly. */
export interface Impact {
  readonly systemId: string;
  readonly distance: number;
  readonly type: DependencyType;
}

const STRONGEST_FIRST: readonly DependencyType[] = ["requires", "enhances", "optional"];

/**
 * Finds everything that depends on a system, directly or through others, nearest first. `type` is
 * the strongest way: `requires` when some way has only dependencies of this type.
 * Contract: linear.
 */
export function impactOf(edges: readonly Edge[], systemId: string): readonly Impact[] {
  const ways = waysTo(edges, systemId);
  const distances = new Map<string | undefined, number>();
  for (const [id, next] of ways) distances.set(id, (distances.get(next) ?? -1) + 1);
  const types = new Map<string, DependencyType>();
  STRONGEST_FIRST.forEach((type, index) => {
    const allowed = new Set(STRONGEST_FIRST.slice(0, index + 1));
    const strong = edges.filter((edge) => allowed.has(edge.type));
    for (const id of waysTo(strong, systemId).keys()) {
      if (!types.has(id)) types.set(id, type);
    }
  });
  // The first one is the system itself.
  return [...ways.keys()].slice(1).map((id) => ({
    systemId: id,
    distance: distances.get(id) ?? 0,
    type: types.get(id) ?? "optional",
  }));
}

/**
 * Finds what a set of systems requires and does not hold, directly or through others. Each missing
 * id comes with the ids that require it. Contract: linear.
 */
export function missingFrom(
  scope: readonly string[],
  edges: readonly Edge[],
): ReadonlyMap<string, readonly string[]> {
  const held = new Set(scope);
  const requirements = groupBySource(edges.filter(({ type }) => type === "requires"));
  const missing = new Map<string, string[]>();
  const queue = [...held];
  for (const id of queue) {
    for (const { targetSystemId } of requirements.get(id) ?? []) {
      if (held.has(targetSystemId)) continue;
      const requiredBy = missing.get(targetSystemId);
      if (requiredBy) {
        requiredBy.push(id);
      } else {
        missing.set(targetSystemId, [id]);
        queue.push(targetSystemId);
      }
    }
  }
  return missing;
}

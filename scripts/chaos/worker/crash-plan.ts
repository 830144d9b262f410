import type { Crash } from "../world/scenario.ts";

/**
 * What one object did in an incarnation: the labels of its write points, and whether it crashed.
 */
export interface Incarnation {
  readonly points: string[];
  crashed: boolean;
}

/** The plan and the incarnations of an object. Module state outlives the object. */
export interface ObjectRecord {
  readonly runId: string;
  readonly crashes: readonly Crash[];
  readonly incarnations: Incarnation[];
}

/** By the object's id. */
const byObject = new Map<string, ObjectRecord>();
/** By the id of the run's script. */
const byScript = new Map<string, ObjectRecord>();

export function recordOfObject(objectId: string): ObjectRecord | undefined {
  return byObject.get(objectId);
}

export function recordOfScript(scriptId: string): ObjectRecord | undefined {
  return byScript.get(scriptId);
}

/** Plans the incarnations of an object, the present one first. A second claim keeps the plan. */
export function planIncarnations(
  objectId: string,
  scriptId: string,
  plan: Pick<ObjectRecord, "runId" | "crashes">,
): ObjectRecord {
  const known = byObject.get(objectId);
  if (known) return known;
  const record: ObjectRecord = { ...plan, incarnations: [{ points: [], crashed: false }] };
  byObject.set(objectId, record);
  byScript.set(scriptId, record);
  return record;
}

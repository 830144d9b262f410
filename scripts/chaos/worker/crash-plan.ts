import type { Crash } from "../scenario.ts";

/**
 * What one object did in each of its lives: the labels of its write points, and whether it was
 * ended.
 */
export interface Life {
  readonly points: string[];
  crashed: boolean;
}

/** An object's plan and lives. It outlives the object, as all that a module holds does. */
export interface ObjectRecord {
  readonly runId: string;
  readonly crashes: readonly Crash[];
  readonly lives: Life[];
}

/** By the object's id. */
const byObject = new Map<string, ObjectRecord>();
/** By the id of the script that its run came with. */
const byScript = new Map<string, ObjectRecord>();

export function recordOfObject(objectId: string): ObjectRecord | undefined {
  return byObject.get(objectId);
}

export function recordOfScript(scriptId: string): ObjectRecord | undefined {
  return byScript.get(scriptId);
}

/**
 * Plans an object's lives, the present one first; a run that is claimed once more keeps its plan.
 */
export function planLives(
  objectId: string,
  scriptId: string,
  plan: Pick<ObjectRecord, "runId" | "crashes">,
): ObjectRecord {
  const known = byObject.get(objectId);
  if (known) return known;
  const record: ObjectRecord = { ...plan, lives: [{ points: [], crashed: false }] };
  byObject.set(objectId, record);
  byScript.set(scriptId, record);
  return record;
}

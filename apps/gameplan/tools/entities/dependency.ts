import * as v from "valibot";
import { count, nameText, person, revision, rowId, time } from "./fields.ts";
import { mvpCriticality, systemSlug, systemStatus } from "./game-system.ts";

export const dependencyType = v.picklist(["requires", "enhances", "optional"]);

/** The source system requires, enhances or optionally uses the target system. */
export const dependency = v.strictObject({
  id: rowId,
  projectId: rowId,
  sourceSystemId: rowId,
  targetSystemId: rowId,
  type: dependencyType,
  revision,
  createdAt: time,
  createdBy: person,
});

/** A dependency as one of its systems shows it: the system at the other end. */
export const linkedSystem = v.strictObject({
  systemId: rowId,
  name: nameText,
  systemSlug,
  type: dependencyType,
});

/** A system in the graph. All that it depends on has a smaller `level` and `position`. */
export const graphNode = v.strictObject({
  systemId: rowId,
  name: nameText,
  systemSlug,
  mvpCriticality,
  status: systemStatus,
  /** Place in the implementation order, from 0. */
  position: count,
  /** Systems of one level do not depend on each other. From 0: depends on nothing. */
  level: count,
});

export const graphEdge = v.strictObject({
  sourceSystemId: rowId,
  targetSystemId: rowId,
  type: dependencyType,
});

/** A system that a change reaches. `distance` 1: it depends on the changed system directly. */
export const impactedSystem = v.strictObject({
  systemId: rowId,
  name: nameText,
  systemSlug,
  mvpCriticality,
  distance: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  /** The strongest type on the way: `requires` when every step of some way requires. */
  type: dependencyType,
});

export type DependencyType = v.InferOutput<typeof dependencyType>;
export type LinkedSystem = v.InferOutput<typeof linkedSystem>;
export type GraphNode = v.InferOutput<typeof graphNode>;
export type GraphEdge = v.InferOutput<typeof graphEdge>;

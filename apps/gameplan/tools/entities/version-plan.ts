import * as v from "valibot";
import { count, longText, nameText, person, revision, rowId, time } from "./fields.ts";
import { mvpCriticality, systemSlug } from "./game-system.ts";

/** A version such as `0.1` or `1.0-beta`; one of each in a project. */
export const versionLabel = v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9.+_-]{0,31}$/));
export const planStatus = v.picklist(["draft", "finalized"]);

export const planSummary = v.strictObject({
  id: rowId,
  projectId: rowId,
  version: versionLabel,
  name: nameText,
  goal: longText,
  status: planStatus,
  systems: count,
  phases: count,
  revision,
  createdAt: time,
  createdBy: person,
  finalizedAt: v.nullable(time),
});

/** A system of a plan. A finalized plan keeps the names that systems had then. */
export const plannedSystem = v.strictObject({
  systemId: rowId,
  name: nameText,
  systemSlug,
  mvpCriticality,
  /** The system is not in the bin. */
  exists: v.boolean(),
});

export const planPhase = v.strictObject({
  /** From 1, in the order of work. */
  number: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  name: nameText,
  systems: v.array(plannedSystem),
});

/** A plan of one version. Finalized, nobody can change or delete it. */
export const versionPlan = v.strictObject({
  ...planSummary.entries,
  systems: count,
  phases: v.array(planPhase),
});

/** A requirement that a scope leaves out. */
export const missingRequirement = v.strictObject({
  systemId: rowId,
  name: nameText,
  systemSlug,
  /** Names of systems in the scope that require it, directly or through others. */
  requiredBy: v.array(nameText),
});

/** Whether a set of systems can be built as it is, and what it lacks. */
export const scopeCheck = v.strictObject({
  valid: v.boolean(),
  missing: v.array(missingRequirement),
  /** Missing requirements in all; `missing` holds the first 100. */
  missingTotal: count,
  /** The systems of the scope, in an order in which they can be built. */
  order: v.array(v.strictObject({ systemId: rowId, name: nameText, level: count })),
});

export type VersionPlan = v.InferOutput<typeof versionPlan>;
export type ScopeCheck = v.InferOutput<typeof scopeCheck>;

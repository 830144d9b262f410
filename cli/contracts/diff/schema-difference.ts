import type { JsonObject } from "../../../src/protocol/json/value.ts";
import type { Difference } from "./contract-change.ts";

/**
 * Effect of a difference on the set of accepted values. `other` is neither narrower nor wider, or
 * not understood. `wording` does not change the set.
 */
export type SchemaEffect = "narrower" | "wider" | "other" | "wording";

/** One difference between two schemas. */
export interface SchemaDifference extends Difference {
  readonly effect: SchemaEffect;
  readonly what: string;
}

/** Two schemas of the same place. */
export interface SchemaPair {
  readonly path: readonly string[];
  readonly before: JsonObject;
  readonly after: JsonObject;
  /** The field that holds the place was required and is not any more. */
  readonly isOptionalNow?: boolean;
}

/** Compares two schemas of the same place. The callers pass compareSchemas to the parts. */
export type CompareSchemas = (pair: SchemaPair) => readonly SchemaDifference[];

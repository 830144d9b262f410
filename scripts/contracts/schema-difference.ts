import type { JsonObject } from "../../src/protocol/json/value.ts";
import type { Difference } from "./contract-change.ts";

/**
 * What a difference does to the set of values that a schema accepts. `other` is neither less nor
 * more, or something that is not understood; `wording` leaves the set alone.
 */
export type SchemaEffect = "narrower" | "wider" | "other" | "wording";

/** One difference between two schemas. */
export interface SchemaDifference extends Difference {
  readonly effect: SchemaEffect;
  readonly what: string;
}

/** Two schemas of one place. */
export interface SchemaPair {
  readonly path: readonly string[];
  readonly before: JsonObject;
  readonly after: JsonObject;
  /** The field that holds the place was required and is not any more. */
  readonly isOptionalNow?: boolean;
}

/** Compares two schemas of one place; what compareSchemas is to those that it is made of. */
export type CompareSchemas = (pair: SchemaPair) => readonly SchemaDifference[];

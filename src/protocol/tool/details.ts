import type { JsonObject } from "../json/value.ts";

/** Most bytes of the details of one call, as JSON. */
export const MAX_DETAILS_BYTES = 16_384;

/**
 * What a tool tells people beside its output, redacted; the model never sees it. Or why nobody is
 * shown what it told: it does not fit the contract, or is too large.
 */
export type ShownDetails =
  | { readonly value: JsonObject }
  | { readonly leftOut: "invalid" | "too_large" };

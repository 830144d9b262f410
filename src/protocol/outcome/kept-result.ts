import type { JsonValue } from "../json/value.ts";

/**
 * What a call returned and nobody was shown whole.
 * `whole`: it was cut; this is what would have been shown, redacted. `raw`: it broke its contract;
 * this is what the tool returned, not redacted, for operators alone.
 */
export interface KeptResult {
  readonly kind: "whole" | "raw";
  readonly data: JsonValue;
  /** Texts beside the data, where these were cut too. */
  readonly texts?: readonly string[];
}

/** Largest result that is kept, as JSON. Unit: bytes of UTF-8. */
export const MAX_KEPT_BYTES = 1024 * 1024;

/** How the warning begins that a result was cut. */
export const RESULT_CUT = "the result was cut to";

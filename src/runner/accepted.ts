import type { JsonObject } from "../protocol/json/value.ts";

/** Arguments that fit the contract. */
export interface Accepted {
  readonly args: JsonObject;
  /** Redacted. */
  readonly shown: JsonObject;
  /** `sha256:…` over `args` in canonical JSON. */
  readonly payloadHash: string;
}

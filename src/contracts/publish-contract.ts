import type { ToolContractDocument } from "../protocol/tool-contract-document.ts";
import type { ToolEffect } from "../protocol/tool-effect.ts";
import type { Redaction } from "../protocol/tool-spec.ts";

/** A contract as `GET /v1/tools/:id` and the contract lock show it. */
export type PublishedContract = {
  readonly contract: ToolContractDocument;
  /** What the closed schema of seeds/004 has no place for. */
  readonly interlock: {
    readonly effect: ToolEffect;
    readonly redaction: Redaction;
    readonly parallel: boolean;
    readonly requires_connection: boolean;
    readonly untrusted_output: boolean;
    readonly amount_field: string | null;
    readonly capabilities: readonly string[];
    readonly progress_stages: readonly string[];
    readonly max_arguments_bytes: number;
    readonly max_result_bytes: number;
    /** Codes of its semantic rules. */
    readonly rules: readonly string[];
    /** Which of `checkState`, `describe` and `reconcile` it has. */
    readonly optional: readonly string[];
    /** `sha256:…` over `{input_schema, output_schema}` in canonical JSON. */
    readonly schema_hash: string;
    /** `sha256:…` over everything else here, and `contract`. */
    readonly contract_hash: string;
  };
};

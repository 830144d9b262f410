import type { RunId } from "../identity/ids.ts";

/** What a policy decides about one call, before budgets are counted. */
export type PolicyDecision =
  | { readonly decision: "allowed" }
  | {
      readonly decision: "asks_people";
      /** The patterns of the approvals, in order; each of them must be given. */
      readonly patterns: readonly string[];
      /** JSON Pointers to the rules of the document. Empty: the contract itself asks. */
      readonly rules: readonly string[];
    }
  | {
      readonly decision: "refused";
      /** The gate that refuses; docs/gates.md names them. */
      readonly gate: string;
      readonly code: string;
      /** JSON Pointers to the rules, or to the part of the document that holds them. */
      readonly rules: readonly string[];
    };

/** One call of a run, under the policy that the run pinned and under another one. */
export interface DryRunCall {
  readonly runId: RunId;
  /** `inv_<number>`. */
  readonly invocationId: string;
  readonly toolId: string;
  readonly toolVersion: string;
  /** ISO 8601, UTC. */
  readonly askedAt: string;
  readonly from: PolicyDecision;
  readonly to: PolicyDecision;
}

/** The calls of one run. Those that no policy can decide again are only counted. */
export interface DryRunOfRun {
  readonly calls: readonly DryRunCall[];
  /** Calls without a tool of today's deployment, or whose arguments did not fit it. */
  readonly undecided: number;
}

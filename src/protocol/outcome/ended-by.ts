import type { Budget } from "../budget/amounts.ts";
import type { PolicyPin } from "../policy/pin.ts";

/**
 * Who ended a call, where the codes of its errors do not tell. The record of the call keeps it, and
 * a replay reads it.
 */
export type EndedBy =
  | { readonly who: "tenant"; readonly exhausted: Budget }
  /** The object of the tenant did not answer. */
  | { readonly who: "tenant"; readonly exhausted?: never }
  /** A policy that is newer than the one that the run pinned. */
  | { readonly who: "policy"; readonly pin: PolicyPin }
  | { readonly who: "hook"; readonly when: "before"; readonly withheld?: never }
  /** The message of the veto, without the text that stands before it for the model. */
  | {
      readonly who: "hook";
      readonly when: "after";
      readonly withheld: "result" | "failure";
      readonly message: string;
    };

import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import type { PolicyPin } from "../../protocol/policy/pin.ts";
import type { BoundedTerms } from "../../runner/approval/approval-terms.ts";
import { isAskedUnder } from "../../runner/approval/terms-now.ts";
import { readArguments } from "../../runner/gates/read-arguments.ts";
import {
  obeyBothPolicies,
  openReview,
  type Review,
  type ReviewedCall,
  type ReviewPorts,
} from "./open-review.ts";

export type TermsReview =
  /** The approval was requested under the terms that hold now, under the policy of the pin. */
  | { readonly kind: "same"; readonly termsHash: string; readonly pin: PolicyPin }
  /** Other terms hold now, or the policies do not allow the call any more. */
  | { readonly kind: "changed" }
  /** The policy that the run pinned, the current one or the tools cannot be read now. */
  | { readonly kind: "unreadable"; readonly failure: ToolFailure };

/**
 * Compares the terms of an approval with those that hold now. The runner asks the same `termsNow`
 * when the call continues.
 * Contract: never throws for a policy or tools that cannot be read.
 */
export async function reviewTerms(
  ports: ReviewPorts,
  reviewed: ReviewedCall,
): Promise<TermsReview> {
  const opened = await openReview(ports, reviewed);
  if (!opened.ok) return { kind: "unreadable", failure: opened.failure };
  const { current, record } = opened.value;
  const terms = await readTerms(opened.value);
  if (!terms || !(await isAskedUnder(record, terms))) return { kind: "changed" };
  return { kind: "same", termsHash: record.termsHash, pin: current.pin };
}

/** Computes the terms of a call; undefined when a policy refuses it, or none asks for approval. */
async function readTerms(review: Review): Promise<BoundedTerms | undefined> {
  const { call, tool, trail } = review;
  if (!tool) return undefined;
  const read = await readArguments(tool, call, trail);
  if (!read.ok) return undefined;
  const now = await obeyBothPolicies(review, tool, read.value);
  return now.ok ? now.value.terms : undefined;
}

import { hashTerms } from "../../protocol/approval/terms.ts";
import type { PolicyPin } from "../../protocol/policy/pin.ts";
import { approvalTermsOf } from "../../runner/approval/approval-terms.ts";
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
  /** The policy that the run pinned, or the current one, cannot be read now. */
  | { readonly kind: "unreadable" };

/**
 * Compares the terms of an approval with those that hold now. The runner computes the same terms
 * when the call continues.
 * Contract: never throws for a policy that cannot be read.
 */
export async function reviewTerms(
  ports: ReviewPorts,
  reviewed: ReviewedCall,
): Promise<TermsReview> {
  const opened = await openReview(ports, reviewed);
  if (!opened.ok) return { kind: "unreadable" };
  const { current, record } = opened.value;
  const termsHash = await hashTermsNow(opened.value);
  if (termsHash === undefined || termsHash !== record.termsHash) return { kind: "changed" };
  return { kind: "same", termsHash, pin: current.pin };
}

/** Hashes the terms of a call under both policies; undefined when one of them refuses the call. */
async function hashTermsNow(review: Review): Promise<string | undefined> {
  const { call, current, pinned, tool, trail } = review;
  if (!tool) return undefined;
  const read = await readArguments(tool, call, trail);
  if (!read.ok) return undefined;
  const obeyed = await obeyBothPolicies(review, tool, read.value.args);
  if (!obeyed.ok) return undefined;
  const { connectionId } = obeyed.value;
  const terms = approvalTermsOf({ pinned, current: current.policy, tool, connectionId });
  // No policy changes what people see. The runner compares that when the call continues.
  return terms && hashTerms(terms, review.record.packet);
}

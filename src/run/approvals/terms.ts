import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import type { PolicyPin } from "../../protocol/policy/pin.ts";
import { raiseTerms } from "../../runner/budget/plan-raise.ts";
import { isAskedUnder } from "../../runner/approval/terms-now.ts";
import { readArguments } from "../../runner/gates/read-arguments.ts";
import { findImpossible, type KnownCall } from "./find-impossible.ts";
import {
  obeyBothPolicies,
  openReview,
  type CallNow,
  type Review,
  type ReviewedCall,
  type ReviewPorts,
} from "./open-review.ts";

export type TermsReview =
  /** The approval was requested under the terms that hold now, under the policy of the pin. */
  | { readonly kind: "same"; readonly termsHash: string; readonly pin: PolicyPin }
  /** Other terms hold now, or the policies do not allow the call any more. */
  | { readonly kind: "changed" }
  /** The terms hold, and the call cannot succeed any more. */
  | { readonly kind: "impossible"; readonly failure: ToolFailure }
  /** The policy that the run pinned, the current one or the tools cannot be read now. */
  | { readonly kind: "unreadable"; readonly failure: ToolFailure };

/**
 * Compares the terms of an approval with those that hold now, and looks whether its call can still
 * succeed. The runner asks the same `termsNow` and `checkState` when the call continues.
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
  if (!terms?.ok) return { kind: "changed" };
  if (!(await holds(opened.value, terms.value))) return { kind: "changed" };
  const impossible = await findImpossible(ports, opened.value, terms.value);
  if (impossible) return { kind: "impossible", failure: impossible };
  return { kind: "same", termsHash: record.termsHash, pin: current.pin };
}

/**
 * Tells whether an approval was requested under the terms that hold now. An answer alone agrees to
 * no terms, so its call only has to be allowed still. The terms of a raise are those of the raise.
 */
async function holds({ record, current, gatePorts }: Review, now: CallNow): Promise<boolean> {
  const { asks, packet, toolVersion } = record;
  if (asks === "answer") return true;
  if (asks !== "raise") return isAskedUnderThese(record, now);
  const policies = { pinned: gatePorts.policy, current: current.policy };
  const terms = packet.raise && raiseTerms(packet.raise, policies, toolVersion);
  return terms !== undefined && (await isAskedUnder(record, terms));
}

/** A call for which no policy asks for approval any more has no terms. */
async function isAskedUnderThese(record: ApprovalRecord, { terms }: CallNow): Promise<boolean> {
  return terms !== undefined && (await isAskedUnder(record, terms));
}

/** Computes the terms of a call; undefined when tool or arguments are not valid any more. */
async function readTerms(review: Review): Promise<Result<KnownCall, ToolFailure> | undefined> {
  const { call, tool, trail } = review;
  if (!tool) return undefined;
  const read = await readArguments(tool, call, trail);
  if (!read.ok) return undefined;
  const obeyed = await obeyBothPolicies(review, tool, read.value);
  return obeyed.ok ? ok({ ...obeyed.value, tool, accepted: read.value }) : obeyed;
}

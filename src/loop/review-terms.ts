import type { ApprovalRecord } from "../protocol/approval/record.ts";
import { hashTerms } from "../protocol/approval/terms.ts";
import type { ToolInvocationRecord } from "../protocol/invocation/record.ts";
import type { ToolPolicy } from "../protocol/policy/document.ts";
import type { PolicyPin } from "../protocol/policy/pin.ts";
import { approvalTermsOf } from "../runner/approval/approval-terms.ts";
import { restoreRunBudget } from "../runner/budget/of-run.ts";
import { GateTrail } from "../runner/gates/gate.ts";
import { obeyNewerPolicy } from "../runner/gates/obey-newer-policy.ts";
import { obeyPolicy } from "../runner/gates/obey-policy.ts";
import { readArguments } from "../runner/gates/read-arguments.ts";
import { readCurrentPolicy, type PinnedTerms } from "../runner/terms.ts";
import { readPinnedPolicy, type ReviewPorts } from "./review-edit.ts";

/** An approval, and the call that it is about. */
export interface ReviewedCall {
  readonly call: ToolInvocationRecord;
  readonly record: ApprovalRecord;
}

export type TermsReview =
  /** The approval was requested under the terms that hold now, under the policy of the pin. */
  | { readonly kind: "same"; readonly termsHash: string; readonly pin: PolicyPin }
  /** Other terms hold now, or the policies do not allow the call any more. */
  | { readonly kind: "changed" }
  /** The policy that the run pinned, or the current one, cannot be read now. */
  | { readonly kind: "unreadable" };

const CHANGED = { kind: "changed" } as const;

/**
 * Compares the terms of an approval with those that hold now. The runner computes the same terms
 * when the call continues.
 * Contract: never throws for a policy that cannot be read.
 */
export async function reviewTerms(
  ports: ReviewPorts,
  reviewed: ReviewedCall,
): Promise<TermsReview> {
  const { claim, pin } = ports;
  const pinned = await readPinnedPolicy(ports);
  if (!pinned) return { kind: "unreadable" };
  const { principal } = claim;
  const current = await readCurrentPolicy({ ...ports, policy: pinned, pin, principal });
  if (!current.ok) return { kind: "unreadable" };
  const termsHash = await hashTermsUnder(ports, reviewed, { pinned, current: current.value });
  if (termsHash === undefined || termsHash !== reviewed.record.termsHash) return CHANGED;
  return { kind: "same", termsHash, pin: current.value.pin };
}

/** Hashes the terms of a call under two policies; undefined when one of them refuses the call. */
async function hashTermsUnder(
  ports: ReviewPorts,
  { call, record }: ReviewedCall,
  { pinned, current }: { readonly pinned: ToolPolicy; readonly current: PinnedTerms },
): Promise<string | undefined> {
  const { claim, source, invocations } = ports;
  const { principal, connectionIds = [] } = claim;
  const tool = source.getBoundTool(record.toolId, record.toolVersion);
  if (!tool) return undefined;
  const trail = new GateTrail();
  const read = await readArguments(tool, call, trail);
  if (!read.ok) return undefined;
  const { args } = read.value;
  const budget = restoreRunBudget(invocations, pinned);
  const gatePorts = { ...ports, principal, connectionIds, budget };
  const asked = { tool, args, operation: call };
  const obeyed = await obeyPolicy(gatePorts, { ...asked, terms: { policy: pinned } }, trail);
  if (!obeyed.ok) return undefined;
  const { connectionId } = obeyed.value;
  const still = await obeyNewerPolicy(
    gatePorts,
    { ...asked, connectionId },
    { terms: current, trail },
  );
  if (!still.ok) return undefined;
  const { policy } = current;
  const terms = approvalTermsOf({ pinned, current: policy, tool, connectionId });
  return terms && hashTerms(terms);
}

import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import { hashTerms, type ApprovalTerms } from "../../protocol/approval/terms.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import type { GateTrail } from "../gates/gate.ts";
import { obeyNewerPolicy, type ObeyedCall } from "../gates/obey-newer-policy.ts";
import type { PolicyPorts } from "../gates/obey-policy.ts";
import type { Terms } from "../terms.ts";
import { approvalTermsOf, type BoundedTerms } from "./approval-terms.ts";

/** What computing the terms of a call takes of the run. */
export type TermsPorts = PolicyPorts & {
  /** The policy that the run pinned. */
  readonly policy: ToolPolicy;
};

/**
 * Computes the terms under which a call would be approved now; the runner and a review of an
 * approval ask it. The pinned policy is the ceiling, and the call obeys the current one too.
 * Undefined when neither policy asks for an approval.
 * Fails: what `obeyNewerPolicy` fails with.
 */
export async function termsNow(
  ports: TermsPorts,
  call: ObeyedCall,
  { current, trail }: { readonly current: Terms; readonly trail: GateTrail },
): Promise<Result<BoundedTerms | undefined, ToolFailure>> {
  const obeyed = await obeyNewerPolicy(ports, call, { terms: current, trail });
  if (!obeyed.ok) return obeyed;
  const evidence = ports.flow.evidenceOf(call.operation, call.tool);
  return ok(approvalTermsOf({ ...call, evidence, pinned: ports.policy, current: current.policy }));
}

/**
 * Tells whether an approval was requested under these terms. What people see is no part of a
 * policy: the runner compares that when the call continues.
 */
export async function isAskedUnder(
  { packet, termsHash }: Pick<ApprovalRecord, "packet" | "termsHash">,
  terms: ApprovalTerms,
): Promise<boolean> {
  return (await hashTerms(terms, packet)) === termsHash;
}

import type { PolicyPin, PolicyProposal } from "../protocol/policy-pin.ts";
import type { TenantId } from "../protocol/ids.ts";
import type { ToolPolicy } from "../protocol/tool-policy.ts";

export type PolicyChange =
  | { readonly kind: "changed"; readonly pin: PolicyPin }
  /** Someone else was first; the policy is the one of this pin. */
  | { readonly kind: "conflict"; readonly pin: PolicyPin | undefined }
  /** The document could not be stored; nothing changed. */
  | { readonly kind: "unavailable" };

/**
 * Owns which document is a tenant's policy.
 * Contract: `change` is a compare-and-swap on the expected revision, serialised per tenant; `undefined`
 * expects that there is no policy yet. The document is stored under its hash before it is current.
 * What reads policies elsewhere may learn of a change later, and never of an older one after it.
 */
export interface PolicyRegistry {
  current(tenantId: TenantId): Promise<PolicyPin | undefined>;
  change(
    tenantId: TenantId,
    policy: ToolPolicy,
    terms: Pick<PolicyProposal, "expectedRevision" | "by">,
  ): Promise<PolicyChange>;
}

import type { TenantId } from "../protocol/ids.ts";
import type { ToolPolicy } from "../protocol/tool-policy.ts";

/**
 * Reads a tenant's policy.
 * Contract: never throws. A missing, unreadable or invalid document yields the policy that denies
 * everything, with the reason.
 */
export interface PolicyStore {
  load(tenantId: TenantId): Promise<LoadedPolicy>;
}

export interface LoadedPolicy {
  readonly policy: ToolPolicy;
  /** Absent when a document was found and is valid. */
  readonly deniedBecause?: "missing" | "unreadable" | "invalid";
}

import type { TenantId } from "../protocol/ids.ts";
import type { PolicyPin } from "../protocol/policy-pin.ts";
import type { ToolPolicy } from "../protocol/tool-policy.ts";

/**
 * Reads a tenant's policy.
 * Contract: never throws. A missing, unreadable, altered or invalid document yields the policy that
 * denies everything, with the reason.
 */
export interface PolicyStore {
  /** Reads the current policy; it may be a minute old. */
  load(tenantId: TenantId): Promise<LoadedPolicy>;
  /**
   * Takes a pin from the one who owns it, so that this isolate need not wait for KV to show it.
   * Contract: never goes back to an older revision.
   */
  learn(tenantId: TenantId, pin: PolicyPin): void;
  /** Reads the document that a pin names, whichever is current. */
  read(tenantId: TenantId, pin: PolicyPin): Promise<LoadedPolicy>;
}

export interface LoadedPolicy {
  readonly policy: ToolPolicy;
  /** Absent when there is no document to pin. */
  readonly pin?: PolicyPin;
  /** Absent when a document was found and is valid. */
  readonly deniedBecause?: "missing" | "unreadable" | "invalid";
}

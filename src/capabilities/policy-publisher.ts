import type { TenantId } from "../protocol/ids.ts";
import type { PolicyPin } from "../protocol/policy-pin.ts";

/** A document under its hash. */
export interface PolicyDocument {
  readonly hash: string;
  /** Canonical JSON. */
  readonly text: string;
}

/**
 * Puts policies where every reader finds them.
 * Contract: never throws; each answers whether it was stored, and may be repeated.
 */
export interface PolicyPublisher {
  storeDocument(tenantId: TenantId, document: PolicyDocument): Promise<boolean>;
  /** Names the current policy. Contract: whoever calls sees to it that revisions only grow. */
  point(tenantId: TenantId, pin: PolicyPin): Promise<boolean>;
  /** Says, or takes back, that the tenant admits the pages of an origin. */
  listOrigin(tenantId: TenantId, origin: string, isAdmitted: boolean): Promise<boolean>;
}

import type { TenantId } from "../protocol/identity/ids.ts";
import type { PolicyPin, PolicyProposal } from "../protocol/policy/pin.ts";
import type { ToolPolicy } from "../protocol/policy/document.ts";

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

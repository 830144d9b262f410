import type { TenantId } from "../protocol/identity/ids.ts";
import type { Operation } from "../protocol/invocation/record.ts";
import type { PolicyPin, PolicyProposal } from "../protocol/policy/pin.ts";
import type { ToolPolicy } from "../protocol/policy/document.ts";

/**
 * Reads a tenant's policy.
 * Contract: never throws. A missing, unreadable, altered or invalid document yields the policy that
 * denies everything, with the reason.
 */
export interface PolicyStore {
  /** Reads the current policy; the answer may be a minute old. */
  load(tenantId: TenantId): Promise<LoadedPolicy>;
  /**
   * Accepts a pin from the PolicyRegistry, so that this isolate need not wait for KV to show it.
   * Contract: never returns to an older revision.
   */
  learn(tenantId: TenantId, pin: PolicyPin): void;
  /** Reads the document that a pin names, also when it is not the current one. */
  read(tenantId: TenantId, pin: PolicyPin): Promise<LoadedPolicy>;
}

export interface LoadedPolicy {
  readonly policy: ToolPolicy;
  /** Absent when no document could be read. */
  readonly pin?: PolicyPin;
  /** Absent when the document is valid. */
  readonly deniedBecause?: "missing" | "unreadable" | "invalid";
}

export type PolicyChange =
  | { readonly kind: "changed"; readonly pin: PolicyPin }
  /** Another change came first. The pin names the current policy; undefined without one. */
  | { readonly kind: "conflict"; readonly pin: PolicyPin | undefined }
  /** The document could not be stored, and nothing changed. */
  | { readonly kind: "unavailable" };

/**
 * Owns the pointer to a tenant's current policy.
 * Contract: `change` is a compare-and-swap on the expected revision, serialised per tenant;
 * `undefined` expects that there is no policy yet. A document is stored under its hash before it
 * becomes current. Readers elsewhere may see a change later, but never an older policy after a
 * newer one.
 */
export interface PolicyRegistry {
  /** `asker` is the call of a run that needs the policy. Only a replay reads it. */
  current(tenantId: TenantId, asker?: Operation): Promise<PolicyPin | undefined>;
  change(
    tenantId: TenantId,
    policy: ToolPolicy,
    terms: Pick<PolicyProposal, "expectedRevision" | "by">,
  ): Promise<PolicyChange>;
}

/** A policy document and its hash. */
export interface PolicyDocument {
  readonly hash: string;
  /** Canonical JSON. */
  readonly text: string;
}

/**
 * Publishes policies for all readers.
 * Contract: never throws; each method answers whether the write succeeded, and may be repeated.
 */
export interface PolicyPublisher {
  storeDocument(tenantId: TenantId, document: PolicyDocument): Promise<boolean>;
  /** Publishes the current pin. Contract: the caller ensures that revisions only grow. */
  point(tenantId: TenantId, pin: PolicyPin): Promise<boolean>;
  /** Lists an origin for the tenant, or removes it from the list. */
  listOrigin(tenantId: TenantId, origin: string, isAdmitted: boolean): Promise<boolean>;
}

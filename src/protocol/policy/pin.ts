import * as v from "valibot";
import { parseJsonAs } from "../json/parse-as.ts";
import type { ActorId, TenantId } from "../identity/ids.ts";

const policyPin = v.strictObject({
  revision: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  hash: v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/)),
});

/**
 * The policy on which a decision is based. A tenant's revisions start at 1 and only grow. The
 * document of a hash never changes.
 */
export interface PolicyPin {
  readonly revision: number;
  /** `sha256:…` over the document's canonical JSON. */
  readonly hash: string;
}

/** Tells whether two pins are equal. A revision alone could be claimed for any document. */
export function isSamePin(a: PolicyPin, b: PolicyPin): boolean {
  return a.revision === b.revision && a.hash === b.hash;
}

/** Reads a pin from JSON text; undefined when the text is not exactly one. */
export function parsePolicyPin(text: string): PolicyPin | undefined {
  return parseJsonAs(policyPin, text);
}

/** Names the KV entry of a document. The entry of a hash is written once and never changed. */
export function policyDocumentKey(tenantId: TenantId, hash: string): string {
  return `policy/${tenantId}/${hash}`;
}

/** Names the KV entry that holds the pin of a tenant's current policy. */
export function policyPointerKey(tenantId: TenantId): string {
  return `policy/${tenantId}/current`;
}

/** A document that is proposed as the tenant's new policy. */
export interface PolicyProposal {
  readonly tenantId: TenantId;
  /** Canonical JSON of a valid document. */
  readonly policyText: string;
  /** The revision that the document replaces; undefined when there is no policy yet. */
  readonly expectedRevision: number | undefined;
  /** The proposer. */
  readonly by: { readonly actorId: ActorId; readonly subjectId?: ActorId };
}

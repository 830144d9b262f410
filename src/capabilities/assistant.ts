import type { AssistantDocument } from "../protocol/assistant/document.ts";
import type { AssistantPin } from "../protocol/assistant/pin.ts";
import type { ActorId, TenantId } from "../protocol/identity/ids.ts";

/** An assistant: its pin and its document. */
export interface Assistant {
  readonly pin: AssistantPin;
  readonly document: AssistantDocument;
}

/** An assistant as its tenant's object stores it. */
export interface StoredAssistant {
  readonly pin: Required<AssistantPin>;
  /** Canonical JSON of a document that was valid when it was stored. */
  readonly text: string;
}

/** A change of one assistant. */
export interface AssistantProposal {
  readonly id: string;
  /** Canonical JSON of a valid document. Absent: the assistant is removed. */
  readonly text?: string | undefined;
  /** The revision that the change replaces; undefined when there is no such assistant yet. */
  readonly expectedRevision: number | undefined;
  /** The proposer, in the form of the audit log. */
  readonly by: { readonly actorId: ActorId; readonly subjectId?: ActorId };
}

export type AssistantChange =
  /** The pin of the stored document, or of the removed one. */
  | { readonly kind: "changed"; readonly pin: Required<AssistantPin> }
  /** Another change came first. The pin is absent when there is no such assistant. */
  | { readonly kind: "conflict"; readonly pin?: Required<AssistantPin> }
  /** The tenant has as many assistants as it may have. */
  | { readonly kind: "full" };

/**
 * Owns the assistants of the tenants.
 * Contract: `change` is a compare-and-swap on the expected revision, serialised per tenant. A
 * revision is never used twice, also not after a removal. Throws when the tenant's object does not
 * answer.
 */
export interface AssistantRegistry {
  list(tenantId: TenantId): Promise<readonly Required<AssistantPin>[]>;
  /** Reads the current document, or an earlier one by its hash. */
  read(tenantId: TenantId, id: string, hash?: string): Promise<StoredAssistant | undefined>;
  change(tenantId: TenantId, proposal: AssistantProposal): Promise<AssistantChange>;
}

/**
 * Finds the assistants of a request.
 * Contract: the answer may be 30 seconds old. Throws when the tenant's object does not answer.
 */
export interface AssistantStore {
  /** Lists the ids of the tenant's assistants and of the deployment's own. */
  list(tenantId: TenantId): Promise<readonly string[]>;
  /** The deployment's own assistant stands in for a `default` that the tenant has not stored. */
  find(tenantId: TenantId, id: string): Promise<Assistant | undefined>;
  /** Forgets what this isolate knows of an assistant, because a change went through it. */
  forget(tenantId: TenantId, id: string): void;
}

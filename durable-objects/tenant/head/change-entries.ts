import type { AssistantProposal } from "../../../src/capabilities/assistant.ts";
import type { AssistantPin } from "../../../src/protocol/assistant/pin.ts";
import type { AuditEntry } from "../../../src/protocol/audit/entry.ts";
import type { ConsentGrant, ConsentView } from "../../../src/protocol/consent/consent.ts";
import type { ActorId } from "../../../src/protocol/identity/ids.ts";
import type { PolicyPin, PolicyProposal } from "../../../src/protocol/policy/pin.ts";
import { toIso } from "../../../src/protocol/text/iso-time.ts";

/** Writes the audit entry of a new policy. */
export function policyChanged({ by }: PolicyProposal, pin: PolicyPin, nowMs: number): AuditEntry {
  return {
    action: "policy.changed",
    at: toIso(nowMs),
    ...by,
    policyHash: pin.hash,
    policyRevision: pin.revision,
  };
}

/** Writes the audit entry of a stored or removed assistant. It holds no text of the assistant. */
export function assistantChanged(
  { by, text }: Pick<AssistantProposal, "by" | "text">,
  { id, hash, revision }: Required<AssistantPin>,
  nowMs: number,
): AuditEntry {
  return {
    action: text === undefined ? "assistant.removed" : "assistant.stored",
    at: toIso(nowMs),
    ...by,
    assistantId: id,
    assistantHash: hash,
    assistantRevision: revision,
  };
}

/** Writes the audit entry of a consent that begins. */
export function consentGranted(
  grant: ConsentGrant,
  { hash: policyHash, revision: policyRevision }: PolicyPin,
  nowMs: number,
): AuditEntry {
  const { person, within, calls } = grant;
  return {
    action: "consent.granted",
    at: toIso(nowMs),
    actorId: person,
    ...nameConsent(grant),
    decision: `${within}, ${calls} calls, until ${toIso(grant.untilMs)}`,
    policyHash,
    policyRevision,
  };
}

/** Writes the audit entry of a consent that somebody ended. */
export function consentRevoked(consent: ConsentView, by: ActorId, nowMs: number): AuditEntry {
  const { person } = consent;
  const whose = person === by ? {} : { subjectId: person };
  return {
    action: "consent.revoked",
    at: toIso(nowMs),
    actorId: by,
    ...whose,
    ...nameConsent(consent),
  };
}

function nameConsent(
  consent: Pick<ConsentView, "id" | "approvalId" | "toolId" | "toolVersion" | "assistantId">,
): Partial<AuditEntry> {
  const { id: consentId, approvalId, toolId, toolVersion, assistantId } = consent;
  const assistant = assistantId !== undefined && { assistantId };
  return { consentId, approvalId, toolId, toolVersion, ...assistant };
}

import type { AssistantProposal } from "../../../src/capabilities/assistant.ts";
import type { AssistantPin } from "../../../src/protocol/assistant/pin.ts";
import type { AuditEntry } from "../../../src/protocol/audit/entry.ts";
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

import type { ApprovalSummary } from "../../src/protocol/approval/view.ts";
import { PATTERN_DEFAULTS } from "../../src/protocol/approval/requirement.ts";
import type { ConfirmationPacket } from "../../src/protocol/approval/packet.ts";
import type {
  ActorId,
  ApprovalId,
  RunId,
  ToolCallId,
  ToolId,
} from "../../src/protocol/identity/ids.ts";

/** A packet with every field set. */
export const PACKET: ConfirmationPacket = {
  actionName: { title: "Refund 40 EUR to Ann", tool: "pay__refund", version: "2.1.0" },
  consequence: "Ann gets 40 EUR back.",
  arguments: { shown: { amount: 40, to: { name: "Ann" } }, withheld: ["/iban"] },
  beforeState: { status: "paid" },
  afterState: null,
  idempotencyFingerprint: "sha256:f2a8",
  riskClass: "CRITICAL_MUTATION",
  dataClass: "confidential",
  owner: "payments",
  expiresAt: "2026-11-21T10:00:00.000Z",
  compensation: { reversible: false, tool: null, note: "It cannot be undone." },
  rejectionPath: "The tool does not run.",
  traceId: "run_1",
};

/** Summary of the approval in the queue. */
export const SUMMARY: ApprovalSummary = {
  approvalId: "appr_a_b_1_1" as ApprovalId,
  runId: "run_1" as RunId,
  toolCallId: "call_1" as ToolCallId,
  toolId: "pay__refund" as ToolId,
  toolVersion: "2.1.0",
  title: "Refund 40 EUR to Ann",
  riskClass: "CRITICAL_MUTATION",
  status: "pending",
  required: 2,
  approvals: 0,
  requirements: [{ ...PATTERN_DEFAULTS.dual_control, roles: ["operator"], approvals: 0 }],
  requestedBy: "user:cleo" as ActorId,
  requestedAt: "2026-11-21T09:00:00.000Z",
  expiresAt: "2026-11-21T10:00:00.000Z",
};

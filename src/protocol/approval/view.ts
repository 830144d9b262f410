import type { ApprovalRecord, ApprovalStatus, ApprovalVote, SupersedeReason } from "./record.ts";
import { countPeople } from "./count-people.ts";
import { RUN_POLICIES, type ApprovalRequirement } from "./requirement.ts";
import type { ConfirmationPacket } from "./packet.ts";
import { consentIdOf } from "../consent/consent.ts";
import type { LastingChoice } from "../consent/lasting.ts";
import type { ActorId, ApprovalId, RunId, ToolCallId, ToolId } from "../identity/ids.ts";
import { formatPacketLines, type PacketLine } from "./packet-lines.ts";
import type { SideEffectClass } from "../tool/effect.ts";
import type { ApprovalAsks } from "./question.ts";
import type { ShownChange } from "./shown.ts";
import type { TermChange } from "./terms.ts";
import { toVisible } from "../text/visible.ts";
import { toIso } from "../text/iso-time.ts";
import type { JsonObject } from "../json/value.ts";
import { invocationIdOf } from "../invocation/id.ts";

/** One item of the queue, `GET /v1/approvals`. Times are ISO 8601, UTC. */
export type ApprovalSummary = {
  readonly approvalId: ApprovalId;
  readonly runId: RunId;
  readonly toolCallId: ToolCallId;
  readonly toolId: ToolId;
  /** The tool's name for people; absent: its contract has none. */
  readonly toolTitle?: string;
  readonly toolVersion: string;
  /** Safe to show, see toVisible. */
  readonly title: string;
  readonly riskClass: SideEffectClass;
  readonly status: ApprovalStatus;
  /** Absent: it asks for votes alone. */
  readonly asks?: ApprovalAsks;
  /** The fewest people that can meet all requirements. */
  readonly required: number;
  /** People who have approved so far. */
  readonly approvals: number;
  /** What each rule asks, and how many of these people count for it. */
  readonly requirements: readonly RequirementView[];
  /** The person for whom the call is made. */
  readonly requestedBy: ActorId;
  /** The actor who started the run, where that is not the person. */
  readonly actorId?: ActorId;
  /** The actor who minted the embed token that started the run. */
  readonly minterId?: ActorId;
  readonly requestedAt: string;
  readonly expiresAt: string;
  readonly closedAt?: string;
  readonly supersededBy?: ApprovalId;
  /** Why another approval took its place. Present exactly when the status is `superseded`. */
  readonly supersededBecause?: SupersedeReason;
  /** Why its call cannot succeed any more. Only of a `withdrawn` one; safe to show. */
  readonly withdrawnBecause?: string;
};

/** What one rule asks of people, and how many of them it has. */
export type RequirementView = ApprovalRequirement & { readonly approvals: number };

/** `GET /v1/approvals/:id`. */
export type ApprovalView = ApprovalSummary & {
  /** `inv_<number>`. */
  readonly invocationId: string;
  /** Of the record; outside the run's object its fingerprint. */
  readonly payloadHash: string;
  readonly policyRevision: number;
  /** How the terms differ from those of the approval before. */
  readonly changedTerms?: readonly TermChange[];
  /** How the packet differs from what people saw before. */
  readonly changedShown?: readonly ShownChange[];
  /** What an approver's edit changed in the packet. */
  readonly changedByEdit?: readonly ShownChange[];
  readonly packet: ConfirmationPacket;
  /** The changes and the packet as text that is safe to show; see formatPacketLines. */
  readonly lines: readonly PacketLine[];
  readonly votes: readonly {
    readonly approverId: ActorId;
    readonly decision: "approve" | "reject";
    /** Safe to show, see toVisible. */
    readonly reason?: string;
    /** The consent that this vote began, or the earlier one that voted for the person. */
    readonly consentId?: string;
    /** What the consent answers beyond this call. Present exactly for the vote that began it. */
    readonly lasting?: Omit<LastingChoice, "untilMs"> & { readonly until: string };
    readonly at: string;
  }[];
  /** What the person answered. Present exactly when the status is `answered`. */
  readonly answer?: { readonly by: ActorId; readonly at: string; readonly fields: JsonObject };
  /** When the call used the approval. */
  readonly consumedAt?: string;
};

/** Summarises an approval for the queue. Contract: pure. */
export function summarise(runId: RunId, record: ApprovalRecord): ApprovalSummary {
  const { requirements, packet, votes, actorId, minterId, closedAtMs } = record;
  const counts = countPeople(record);
  const { supersededBy, supersededBecause, withdrawnBecause } = record;
  const { title, toolTitle } = packet.actionName;
  return {
    approvalId: record.id,
    runId,
    toolCallId: record.toolCallId,
    toolId: record.toolId,
    ...(toolTitle !== undefined && { toolTitle: toVisible(toolTitle).text }),
    toolVersion: record.toolVersion,
    title: toVisible(title).text,
    riskClass: packet.riskClass,
    status: record.status,
    ...(record.asks && { asks: record.asks }),
    required: fewestPeople(requirements),
    approvals: votes.filter(({ decision }) => decision === "approve").length,
    requirements: requirements.map((asked, at) =>
      Object.assign({ approvals: counts[at] ?? 0 }, asked),
    ),
    requestedBy: record.requester,
    ...(actorId !== record.requester && { actorId }),
    ...(minterId && { minterId }),
    requestedAt: toIso(record.askedAtMs),
    expiresAt: toIso(record.expiresAtMs),
    ...(closedAtMs !== undefined && { closedAt: toIso(closedAtMs) }),
    ...(supersededBy && { supersededBy }),
    ...(supersededBecause && { supersededBecause }),
    ...(withdrawnBecause && { withdrawnBecause: toVisible(withdrawnBecause).text }),
  };
}

function fewestPeople(requirements: readonly ApprovalRequirement[]): number {
  const under = RUN_POLICIES.map((policy) =>
    requirements
      .filter((asked) => (asked.policy ?? policy) === policy)
      .reduce((sum, { required }) => sum + required, 0),
  );
  return Math.max(...under);
}

/** Builds the full view of an approval for a voter. Contract: pure. */
export function viewApproval(runId: RunId, record: ApprovalRecord): ApprovalView {
  const { votes, consumedAtMs, changedTerms, changedShown, changedByEdit } = record;
  return {
    ...summarise(runId, record),
    invocationId: invocationIdOf(record.invocation),
    payloadHash: record.payloadHash,
    policyRevision: record.pin.revision,
    ...(changedTerms && { changedTerms }),
    ...(changedShown && { changedShown }),
    ...(changedByEdit && { changedByEdit }),
    packet: record.packet,
    lines: formatPacketLines(record.packet, record),
    votes: votes.map((vote) => viewVote(record.id, vote)),
    ...viewAnswer(record),
    ...(consumedAtMs !== undefined && { consumedAt: toIso(consumedAtMs) }),
  };
}

function viewAnswer({ answer: fields, edit }: ApprovalRecord): Pick<ApprovalView, "answer"> {
  if (!fields || !edit) return {};
  const { approverId: by, atMs } = edit.vote;
  return { answer: { by, at: toIso(atMs), fields } };
}

function viewVote(id: ApprovalId, vote: ApprovalVote): ApprovalView["votes"][number] {
  const { approverId, decision, reason, lasting, atMs } = vote;
  const consentId = lasting ? consentIdOf(id) : vote.consentId;
  return {
    approverId,
    decision,
    ...(reason !== undefined && { reason: toVisible(reason).text }),
    ...(consentId !== undefined && { consentId }),
    ...(lasting && { lasting: viewLasting(lasting) }),
    at: toIso(atMs),
  };
}

function viewLasting({ untilMs, ...choice }: LastingChoice) {
  return { ...choice, until: toIso(untilMs) };
}

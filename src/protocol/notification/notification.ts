import type { ApprovalSummary } from "../approval/view.ts";
import type { Escalation } from "../escalation/escalation.ts";
import type { RunId } from "../identity/ids.ts";

/** What people are told of. */
export const NOTIFICATION_TYPES = ["escalation.opened", "approval.requested"] as const;
export type NotificationType = (typeof NOTIFICATION_TYPES)[number];

/**
 * The body of a webhook: ids, classes, titles and a link. It holds no arguments, no output and no
 * text that an author's function made of them.
 */
export interface NotificationBody {
  readonly type: NotificationType;
  /** When it happened: ISO 8601, UTC. */
  readonly timestamp: string;
  readonly data: { readonly [name: string]: string };
}

/** One thing to tell people. */
export interface Notification {
  /** The same for each delivery, and never used for anything else. */
  readonly id: string;
  readonly runId: RunId;
  readonly body: NotificationBody;
}

/** Where the people of a tenant are told. */
export interface NotificationPlace {
  /** Id of a stored connection. */
  readonly connection: string;
  /** Address of the page where they decide. */
  readonly page: string;
}

/** Tells of an escalation. Contract: pure. */
export function notifyOfEscalation(escalation: Escalation, page: string): Notification {
  const { id, runId, openedAt, reason, outcome, ...rest } = escalation;
  const { invocationId, toolId, toolTitle, toolVersion, owner, requestedBy, until } = rest;
  const { approvalId } = rest;
  return {
    id: `msg_${runId}_${id}`,
    runId,
    body: {
      type: "escalation.opened",
      timestamp: openedAt,
      data: known({
        escalationId: id,
        reason,
        outcome,
        runId,
        invocationId,
        approvalId,
        toolId,
        toolTitle,
        toolVersion,
        owner,
        requestedBy,
        until,
        link: `${page}#${approvalId ?? id}`,
      }),
    },
  };
}

/** Tells of a pending approval. Contract: pure. */
export function notifyOfApproval(approval: ApprovalSummary, page: string): Notification {
  const { approvalId, runId, toolId, toolTitle, toolVersion, riskClass, ...rest } = approval;
  const { requestedBy, requestedAt, expiresAt, requirements } = rest;
  return {
    id: `msg_${approvalId}`,
    runId,
    body: {
      type: "approval.requested",
      timestamp: requestedAt,
      data: known({
        approvalId,
        patterns: requirements.map(({ pattern }) => pattern).join(", "),
        riskClass,
        runId,
        toolId,
        toolTitle,
        toolVersion,
        requestedBy,
        expiresAt,
        link: `${page}#${approvalId}`,
      }),
    },
  };
}

function known(data: Readonly<Record<string, string | undefined>>): NotificationBody["data"] {
  return JSON.parse(JSON.stringify(data)) as NotificationBody["data"];
}

/** A notification that the receiver does not have; one item of `GET /v1/notifications`. */
export interface UndeliveredNotification {
  readonly id: string;
  readonly type: NotificationType;
  readonly runId: RunId;
  /** `dead`: nobody tries again unless an operator asks for it. */
  readonly state: "waiting" | "dead";
  readonly queuedAt: string;
  readonly attempts: number;
  /** Why the last attempt failed. */
  readonly failure?: string;
  /** Absent for a dead one. */
  readonly nextAttemptAt?: string;
}

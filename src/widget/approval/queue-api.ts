import type { ApiOptions } from "../../client/send-authorised.ts";
import { postJson } from "../api-request.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import { ok } from "../../protocol/outcome/result.ts";
import {
  type Answer,
  type ApprovalDecision,
  type ApprovalsApi,
  createApprovalsApi,
  listOf,
  request,
} from "./api.ts";
import { type ConsentInfo, readConsentInfo } from "./consent-info.ts";
import {
  type EscalationAction,
  type EscalationInfo,
  readEscalationInfo,
} from "./escalation-info.ts";
import { type ApprovalInfo, readApproval } from "./info.ts";
import { type NotificationInfo, readNotificationInfo } from "./notification-info.ts";
import { type OutcomeInfo, readOutcomeInfo, type ReportedOutcome } from "./outcome-info.ts";

/** One page of the queue. */
export interface ApprovalPage {
  readonly approvals: readonly ApprovalInfo[];
  readonly next?: string;
}

/** The result for one of several approvals that were decided together. */
export interface BulkResult {
  readonly approvalId: string;
  readonly status: string;
  readonly code?: string;
}

/** The part of the public API that the page of approvals needs. Contract: no method throws. */
export interface QueueApi extends ApprovalsApi {
  list(query: Readonly<Record<string, string>>): Answer<ApprovalPage>;
  decideMany(
    decisions: readonly (ApprovalDecision & { readonly approvalId: string })[],
  ): Answer<readonly BulkResult[]>;
  /** Lists the reader's consents that still answer calls. */
  consents(): Answer<readonly ConsentInfo[]>;
  /** Ends a consent. */
  revoke(consentId: string): Answer<JsonObject>;
  /** Lists the notifications that an attempt could not deliver. */
  undelivered(): Answer<readonly NotificationInfo[]>;
  /** Tries to deliver a notification at once. */
  sendAgain(notificationId: string): Answer<JsonObject>;
  /** Lists the calls whose outcome the reader may report. */
  outcomes(): Answer<readonly OutcomeInfo[]>;
  /** Reports what the reader found out about a call. */
  resolve(call: OutcomeInfo, outcome: ReportedOutcome): Answer<JsonObject>;
  /** Lists what the reader may settle in the list itself. */
  escalations(): Answer<readonly EscalationInfo[]>;
  /** Takes, releases or settles one; `from` is who has taken it, as the reader saw. */
  actOn(
    id: string,
    act: { readonly action: EscalationAction; readonly from?: string; readonly note?: string },
  ): Answer<JsonObject>;
}

/** Creates the client of the HTTP API for the page of approvals. */
export function createQueueApi(options: ApiOptions): QueueApi {
  const ask = (path: string, init?: RequestInit) => request(options, path, init);
  return {
    ...createApprovalsApi(options),
    async list(query) {
      const answer = await ask(`v1/approvals?${new URLSearchParams(query).toString()}`);
      if (!answer.ok) return answer;
      const { next } = answer.value;
      const approvals = listOf(answer.value["approvals"]).flatMap(
        (item) => readApproval(item) ?? [],
      );
      return ok({ approvals, ...(typeof next === "string" && next !== "" && { next }) });
    },
    async decideMany(decisions) {
      const answer = await ask("v1/approvals/decisions", postJson({ decisions }));
      if (!answer.ok) return answer;
      return ok(listOf(answer.value["results"]) as unknown as readonly BulkResult[]);
    },
    async consents() {
      const answer = await ask("v1/consents?limit=100");
      if (!answer.ok) return answer;
      return ok(listOf(answer.value["consents"]).flatMap((item) => readConsentInfo(item) ?? []));
    },
    revoke: (id) => ask(`v1/consents/${encodeURIComponent(id)}`, { method: "DELETE" }),
    async undelivered() {
      const answer = await ask("v1/notifications?limit=50");
      if (!answer.ok) return answer;
      const items = listOf(answer.value["notifications"]);
      return ok(items.flatMap((item) => readNotificationInfo(item) ?? []));
    },
    sendAgain: (id) => ask(`v1/notifications/${encodeURIComponent(id)}/retry`, { method: "POST" }),
    async outcomes() {
      const answer = await ask("v1/outcomes?limit=50");
      if (!answer.ok) return answer;
      return ok(listOf(answer.value["outcomes"]).flatMap((item) => readOutcomeInfo(item) ?? []));
    },
    async escalations() {
      const answer = await ask("v1/escalations?limit=100");
      if (!answer.ok) return answer;
      const items = listOf(answer.value["escalations"]);
      return ok(items.flatMap((item) => readEscalationInfo(item) ?? []));
    },
    actOn: (id, act) => ask(`v1/escalations/${encodeURIComponent(id)}`, postJson(act)),
    resolve: ({ runId, invocationId }, outcome) => {
      const call = `v1/runs/${encodeURIComponent(runId)}/invocations/${encodeURIComponent(invocationId)}`;
      return ask(`${call}/outcome`, postJson({ outcome }));
    },
  };
}

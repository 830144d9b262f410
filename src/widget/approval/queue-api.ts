import type { AnswerOf, BodyOf, QueryOf } from "../../client/call.ts";
import type { ClientOptions } from "../../client/ports.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import {
  type Answer,
  type ApprovalFailure,
  type ApprovalsApi,
  createApprovalsApi,
  createReaderCall,
} from "./api.ts";
import { type ApprovalInfo, readApproval } from "./info.ts";

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** The cursor of the page that follows; undefined on the last one. */
  readonly next?: string | undefined;
}

export type ApprovalQuery = QueryOf<"GET /v1/approvals">;
export type OutcomeQuery = QueryOf<"GET /v1/outcomes">;
export type EscalationQuery = QueryOf<"GET /v1/escalations">;
export type EscalationAct = BodyOf<"POST /v1/escalations/{id}">;
export type ReportedOutcome =
  BodyOf<"POST /v1/runs/{id}/invocations/{invocationId}/outcome">["outcome"];
type BulkDecisions = BodyOf<"POST /v1/approvals/decisions">["decisions"];
export type LinkedConsent = AnswerOf<"GET /v1/consents">["consents"][number];
export type ListedOutcome = AnswerOf<"GET /v1/outcomes">["outcomes"][number];
export type ShownEscalation = AnswerOf<"GET /v1/escalations">["escalations"][number];
export type UndeliveredNotification = AnswerOf<"GET /v1/notifications">["notifications"][number];
export type BulkResult = AnswerOf<"POST /v1/approvals/decisions">["results"][number];

/** The part of the public API that operators need. Contract: no method throws. */
export interface QueueApi extends ApprovalsApi {
  list(query: ApprovalQuery): Answer<Page<ApprovalInfo>>;
  decideMany(decisions: BulkDecisions): Answer<readonly BulkResult[]>;
  /** Lists the reader's consents that still answer calls. */
  consents(): Answer<readonly LinkedConsent[]>;
  /** Ends a consent. */
  revoke(consentId: string): Answer<unknown>;
  /** Lists the notifications that an attempt could not deliver. */
  undelivered(): Answer<readonly UndeliveredNotification[]>;
  /** Tries to deliver a notification at once. */
  sendAgain(notificationId: string): Answer<unknown>;
  /** Lists the calls whose outcome the reader may report. */
  outcomes(query: OutcomeQuery): Answer<Page<ListedOutcome>>;
  /** Reports what the reader found out about a call. */
  resolve(call: ListedOutcome, outcome: ReportedOutcome): Answer<unknown>;
  escalations(query: EscalationQuery): Answer<Page<ShownEscalation>>;
  /** Takes, releases or settles one. */
  actOn(id: string, act: EscalationAct): Answer<ShownEscalation>;
}

/** Creates the API of operators on the typed client. */
export function createQueueApi(options: ClientOptions): QueueApi {
  const call = createReaderCall(options);
  return {
    ...createApprovalsApi(call),
    async list(query) {
      const answer = await call("GET /v1/approvals", { query });
      return pageOf(answer, ({ approvals }) => approvals.flatMap((one) => readApproval(one) ?? []));
    },
    async decideMany(decisions) {
      const answer = await call("POST /v1/approvals/decisions", { body: { decisions } });
      return answer.ok ? ok(answer.value.results) : answer;
    },
    async consents() {
      const answer = await call("GET /v1/consents", { query: { limit: 100 } });
      if (!answer.ok) return answer;
      return ok(answer.value.consents.filter(({ state }) => state === "active"));
    },
    revoke: (id) => call("DELETE /v1/consents/{id}", { path: { id } }),
    async undelivered() {
      const answer = await call("GET /v1/notifications", { query: { limit: 50 } });
      if (!answer.ok) return answer;
      return ok(answer.value.notifications.filter(({ failure }) => typeof failure === "string"));
    },
    sendAgain: (id) => call("POST /v1/notifications/{id}/retry", { path: { id } }),
    outcomes: async (query) =>
      pageOf(await call("GET /v1/outcomes", { query }), ({ outcomes }) => outcomes),
    resolve: ({ runId: id, invocationId }, outcome) => {
      const path = { id, invocationId };
      const name = "POST /v1/runs/{id}/invocations/{invocationId}/outcome";
      return call(name, { path, body: { outcome } });
    },
    escalations: async (query) =>
      pageOf(await call("GET /v1/escalations", { query }), ({ escalations }) => escalations),
    actOn: (id, body) => call("POST /v1/escalations/{id}", { path: { id }, body }),
  };
}

function pageOf<Listed extends { readonly next?: string }, Item>(
  answer: Result<Listed, ApprovalFailure>,
  itemsOf: (listed: Listed) => readonly Item[],
): Result<Page<Item>, ApprovalFailure> {
  if (!answer.ok) return answer;
  return ok({ items: itemsOf(answer.value), next: answer.value.next });
}

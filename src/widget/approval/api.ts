import { type ApiOptions, sendAuthorised } from "../../client/send-authorised.ts";
import { postJson, readProblemText, UNREACHABLE } from "../api-request.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { ConsentReach } from "../../protocol/consent/lasting.ts";
import { type ConsentInfo, readConsentInfo } from "./consent-info.ts";
import {
  type EscalationAction,
  type EscalationInfo,
  readEscalationInfo,
} from "./escalation-info.ts";
import { type ApprovalInfo, readApproval } from "./info.ts";
import { type NotificationInfo, readNotificationInfo } from "./notification-info.ts";
import { type OutcomeInfo, readOutcomeInfo, type ReportedOutcome } from "./outcome-info.ts";

/** A person's vote or answer. `arguments` replace the call's arguments. */
export interface ApprovalDecision {
  readonly decision: "approve" | "answer" | "reject";
  readonly answer?: JsonObject;
  readonly arguments?: JsonObject;
  readonly reason?: string;
  /** The consent lasts, as far as the approval offers it. */
  readonly lasting?: { readonly within: ConsentReach };
}

/** Why a request failed. `message` is for the reader. */
export interface ApprovalFailure {
  readonly code: string;
  readonly message: string;
  /** True when the server rejected the token. */
  readonly needsToken: boolean;
  /** The approval's current state, when another person decided first. */
  readonly approval?: ApprovalInfo;
  /** What is wrong with the edited arguments, or with the reason. */
  readonly errors: readonly { readonly pointer: string; readonly message: string }[];
}

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

type Answer<T> = Promise<Result<T, ApprovalFailure>>;

/** The part of the public API that approvals need. Contract: no method throws. */
export interface ApprovalsApi {
  read(approvalId: string): Answer<ApprovalInfo>;
  decide(approvalId: string, decision: ApprovalDecision): Answer<ApprovalInfo>;
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

/** Creates the approvals' client of the HTTP API. */
export function createApprovalsApi(options: ApiOptions): ApprovalsApi {
  const urlOf = (approvalId: string): string => `v1/approvals/${encodeURIComponent(approvalId)}`;
  const ask = (path: string, init: RequestInit = {}) => request(options, path, init);
  return {
    read: async (approvalId) => readOne(await ask(urlOf(approvalId))),
    decide: async (approvalId, decision) =>
      readOne(await ask(`${urlOf(approvalId)}/decisions`, postJson(decision))),
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

const UNREADABLE = "The server sent an approval that this page cannot read. Reload the page.";

function readOne(
  answer: Result<JsonObject, ApprovalFailure>,
): Result<ApprovalInfo, ApprovalFailure> {
  if (!answer.ok) return answer;
  const approval = readApproval(answer.value);
  return approval ? ok(approval) : fail(createFailure("unreadable", UNREADABLE));
}

async function request(options: ApiOptions, path: string, init: RequestInit): Answer<JsonObject> {
  try {
    const response = await sendAuthorised(options, path, init);
    const body: unknown = await response.json().catch(() => undefined);
    const value = isJsonObject(body) ? body : {};
    return response.ok ? ok(value) : fail(readFailure(value, response.status));
  } catch {
    return fail(createFailure("unreachable", UNREACHABLE));
  }
}

function createFailure(code: string, message: string): ApprovalFailure {
  return { code, message, needsToken: false, errors: [] };
}

const MAX_ERRORS = 20;

function readFailure(problem: JsonObject, status: number): ApprovalFailure {
  const approval = readApproval(problem["approval"]);
  const code = typeof problem["reason"] === "string" ? problem["reason"] : problem["code"];
  return {
    code: typeof code === "string" ? code : String(status),
    message: readProblemText(problem, status),
    needsToken: status === 401,
    errors: listOf(problem["errors"]).flatMap(readFieldError).slice(0, MAX_ERRORS),
    ...(approval && { approval }),
  };
}

function readFieldError(error: JsonValue): ApprovalFailure["errors"] {
  const { pointer, message } = isJsonObject(error) ? error : {};
  if (typeof message !== "string") return [];
  return [{ pointer: typeof pointer === "string" ? pointer : "", message }];
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

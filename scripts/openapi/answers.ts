import type { AuditPage } from "../../src/capabilities/audit.ts";
import type { ConversationState, ListedTurn } from "../../src/capabilities/conversation.ts";
import type { PersonRows } from "../../src/capabilities/people.ts";
import type { ApprovalAnswer, ContextAnswer, DecisionAnswer } from "../../src/capabilities/run.ts";
import type { CallResult } from "../../src/capabilities/results.ts";
import type { PublishedContract } from "../../src/contracts/catalog/published-contract.ts";
import type { PolicyMismatch } from "../../src/contracts/policy/mismatch.ts";
import type { UsageReport } from "../../src/http/metrics/usage.ts";
import type { ProblemDetail } from "../../src/http/request/problem.ts";
import type { PacketLine } from "../../src/protocol/approval/packet-lines.ts";
import type { ApprovalStatus } from "../../src/protocol/approval/record.ts";
import type { ApprovalSummary, ApprovalView } from "../../src/protocol/approval/view.ts";
import type { AssistantDocument } from "../../src/protocol/assistant/document.ts";
import type { AssistantPin } from "../../src/protocol/assistant/pin.ts";
import type { AuditRecord } from "../../src/protocol/audit/chain.ts";
import type { PromptHistoryEntry } from "../../src/protocol/audit/prompt-history.ts";
import type { ConsentView } from "../../src/protocol/consent/consent.ts";
import type { ImageType } from "../../src/protocol/conversation/file-part.ts";
import type { ListedFeedback } from "../../src/protocol/conversation/feedback.ts";
import type { KeptResult } from "../../src/protocol/outcome/kept-result.ts";
import type { ShownTurn } from "../../src/protocol/conversation/shown.ts";
import type { ConversationSummary } from "../../src/protocol/conversation/summary.ts";
import type { Escalation, EscalationRemedy } from "../../src/protocol/escalation/escalation.ts";
import type { RunId } from "../../src/protocol/identity/ids.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import type { UndeliveredNotification } from "../../src/protocol/notification/notification.ts";
import type { PersonErasure } from "../../src/protocol/person/erasure.ts";
import type { ToolPolicy } from "../../src/protocol/policy/document.ts";
import type { PolicyPin } from "../../src/protocol/policy/pin.ts";
import type { ProviderTerms } from "../../src/protocol/provider/tenant-provider.ts";
import type { AwaitedOutcome, StateMismatch } from "../../src/protocol/run/awaited-outcome.ts";
import type { DryRunAnswer } from "../../src/http/tenant/policy-dry-run.ts";
import type { ReplayResult } from "../../src/protocol/run/replay.ts";
import type { RunState } from "../../src/protocol/run/state.ts";
import type { RunSummary } from "../../src/protocol/run/summary.ts";
import type { RunTrace } from "../../src/protocol/run/trace.ts";
import type { ToolSpec } from "../../src/protocol/tool/spec.ts";
import type { EventLine } from "../../src/wire/openai-inbound/event-line-reader.ts";

/** A refusal, as RFC 9457 describes it. */
export interface Problem extends Omit<ProblemDetail, "headers"> {
  readonly type: "about:blank";
  /** Says what is wrong and what to do. */
  readonly title: string;
  readonly status: number;
  /** Stable: a client decides by it. */
  readonly code: string;
}

/** A refusal at the addresses of the client of OpenAI. */
export interface OpenAIRefusal {
  readonly error: Omit<Problem, "type" | "title" | "status" | "detail" | "errors"> & {
    readonly message: string;
    readonly type: "server_error" | "invalid_request_error";
    readonly param: string | null;
  };
}

/** One line of a stream of neutral events; the first one names the run. */
export interface StreamedLine extends EventLine {}

/** The cursor of the next page; absent on the last one. */
type Page<Items> = Items & { readonly next?: string };
type Without<Answer, Kind extends string> = Omit<Extract<Answer, { kind: Kind }>, "kind">;
type Stream = "text/event-stream";
/** The stream of a wire that a reader may name. */
type NamedStream = Stream | "application/x-ndjson";
/** What another protocol defines. */
type Foreign = JsonObject;
type Undelivered = UndeliveredNotification;

/** A tool as a model would see it in a run of the caller. */
export interface ListedTool extends Pick<
  ToolSpec,
  "name" | "version" | "description" | "effect" | "sideEffectClass" | "lifecycle" | "inputSchema"
> {
  readonly title?: string;
  readonly category?: string;
}

/** An approval as the caller may decide about it. */
export type AskedApproval = ApprovalView &
  Pick<Extract<ApprovalAnswer, { kind: "approval" }>, "mayNot" | "lasting"> & {
    readonly mayDecide: boolean;
    /** What the caller decided. */
    readonly said?: ApprovalView["votes"][number]["decision"];
  };

/** What was decided about one of many approvals; `code` says why nothing was. */
export interface BulkResult {
  readonly approvalId: string;
  readonly status?: ApprovalStatus;
  readonly code?:
    | Extract<DecisionAnswer, { kind: "not_allowed" }>["why"]
    | "approval_closed"
    | "approval_not_found"
    | "arguments_refused"
    | "policy_unavailable"
    | "tools_unavailable";
}

/** An escalation, and what its reader may do. */
export type ShownEscalation = Escalation & {
  readonly actions: readonly ("take" | "release" | EscalationRemedy)[];
  /** Where the call is reported about, or decided. */
  readonly href?: string;
};

/** A call whose outcome people must report, with its arguments as lines for people. */
export type ListedOutcome = Omit<AwaitedOutcome, "withheld" | "mismatch"> & {
  readonly lines: readonly PacketLine[];
  readonly mismatch?: StateMismatch & { readonly lines: readonly PacketLine[] };
};

export type LinkedConsent = ConsentView & { readonly href: string };

/** A model provider of the tenant, without its key. */
export type ShownProvider =
  | ({ readonly id: string; readonly status: "ready" } & ProviderTerms)
  | { readonly id: string; readonly status: "unreadable" };

/** A turn that a person reads: as it ended, or as its run stands. */
export type ReadTurn = Extract<ListedTurn, ShownTurn>;

/** The outcome of a call without a model. */
export type InvokedCall = CallResult & {
  readonly runId: RunId;
  /** Present when the call happened and was undone within its run. */
  readonly state?: "COMPENSATED";
};

export type ShownErasure = PersonErasure & { readonly kept: readonly string[] };

/** One page of what is kept of a person. */
export type PersonExport = Page<
  | {
      readonly part: "conversations" | "recent";
      readonly conversation?: ConversationSummary;
      readonly turns?: readonly ReadTurn[];
    }
  | { readonly part: "calls"; readonly calls: readonly RunState[] }
  | { readonly part: "consents"; readonly consents: readonly ConsentView[] }
  | {
      readonly part: "workspaces";
      readonly workspace?: { readonly name: string; readonly id: string };
      readonly rows?: readonly JsonObject[];
      readonly without?: Exclude<PersonRows["kind"], "rows">;
    }
>;

/** A policy with its defaults. */
export interface StoredPolicy extends Readonly<ToolPolicy> {}

type StoredAt = Pick<PolicyPin, "revision" | "hash"> & {
  readonly warnings?: readonly PolicyMismatch[];
};
type AssistantAt = AssistantPin & { readonly warnings?: readonly PolicyMismatch[] };
type UiChat = { readonly 200: Stream; readonly 204: null };

/**
 * What each route answers when it refuses nothing, by status. A text names the media type of an
 * answer that is not JSON, and null stands for no body. `scripts/openapi/schemas-of-types.ts` makes
 * the schemas of the document from it, and the tests over HTTP hold it to what the routes answer.
 */
export interface Answers {
  readonly "GET /healthz": { readonly 200: { readonly status: "ok" } };
  readonly "POST /v1/chat": { readonly 200: NamedStream };
  readonly "POST /v1/tools/:id/invoke": { readonly 200: InvokedCall; readonly 202: RunState };
  readonly "POST /v1/runs/:id/invocations/:invocationId/compensate": {
    readonly 200: InvokedCall;
    readonly 202: RunState;
  };
  readonly "GET /v1/conversations": {
    readonly 200: Page<{ readonly conversations: readonly ConversationSummary[] }>;
  };
  readonly "GET /v1/conversations/:id": { readonly 200: ConversationState };
  readonly "PATCH /v1/conversations/:id": { readonly 200: ConversationState };
  readonly "DELETE /v1/conversations/:id": { readonly 200: Deletion; readonly 202: Deletion };
  readonly "GET /v1/conversations/:id/messages": {
    readonly 200: Page<{ readonly turns: readonly ReadTurn[] }>;
  };
  readonly "GET /v1/conversations/:id/export": {
    readonly 200:
      | { readonly conversation: ConversationState; readonly turns: readonly ReadTurn[] }
      | "text/markdown";
  };
  readonly "PUT /v1/conversations/:id/feedback": { readonly 204: null };
  readonly "GET /v1/feedback": {
    readonly 200: Page<{ readonly feedback: readonly ListedFeedback[] }>;
  };
  readonly "GET /v1/runs": { readonly 200: Page<{ readonly runs: readonly RunSummary[] }> };
  readonly "GET /v1/runs/:id": { readonly 200: RunState };
  readonly "GET /v1/runs/:id/events": { readonly 200: NamedStream; readonly 204: null };
  readonly "GET /v1/runs/:id/context": {
    readonly 200: { readonly runId: RunId } & Without<ContextAnswer, "context">;
  };
  readonly "GET /v1/runs/:id/trace": {
    readonly 200: Page<
      { readonly runId: RunId; readonly records: readonly AuditRecord[] } & Partial<RunTrace>
    >;
  };
  readonly "POST /v1/runs/:id/cancel": { readonly 200: RunState };
  readonly "POST /v1/runs/:id/messages": { readonly 202: RunState };
  readonly "POST /v1/runs/:id/invocations/:invocationId/outcome": { readonly 200: RunState };
  readonly "GET /v1/runs/:id/invocations/:invocationId/images/:name": {
    readonly 200: ImageType;
  };
  readonly "GET /v1/runs/:id/invocations/:invocationId/result": {
    readonly 200: { readonly invocationId: string } & KeptResult;
  };
  readonly "GET /v1/approvals": {
    readonly 200: Page<{ readonly approvals: readonly ApprovalSummary[] }>;
  };
  readonly "GET /v1/outcomes": {
    readonly 200: Page<{ readonly outcomes: readonly ListedOutcome[] }>;
  };
  readonly "GET /v1/escalations": {
    readonly 200: Page<{ readonly escalations: readonly ShownEscalation[] }>;
  };
  readonly "POST /v1/escalations/:id": { readonly 200: ShownEscalation };
  readonly "GET /v1/notifications": {
    readonly 200: Page<{ readonly notifications: readonly Undelivered[] }>;
  };
  readonly "POST /v1/notifications/:id/retry": { readonly 202: null };
  readonly "POST /v1/approvals/decisions": {
    readonly 200: { readonly results: readonly BulkResult[] };
  };
  readonly "GET /v1/approvals/:id": { readonly 200: AskedApproval };
  readonly "POST /v1/approvals/:id/decisions": { readonly 200: ApprovalView };
  readonly "GET /v1/consents": {
    readonly 200: Page<{ readonly consents: readonly LinkedConsent[] }>;
  };
  readonly "DELETE /v1/consents/:id": { readonly 200: LinkedConsent };
  readonly "GET /v1/tools": { readonly 200: { readonly tools: readonly ListedTool[] } };
  readonly "GET /v1/tools/:id": { readonly 200: PublishedContract; readonly 304: null };
  readonly "GET /v1/policy": { readonly 200: StoredAt & { readonly policy: StoredPolicy } };
  readonly "PUT /v1/policy": { readonly 200: StoredAt };
  readonly "GET /v1/assistants": {
    readonly 200: { readonly assistants: readonly Required<AssistantPin>[] };
  };
  readonly "GET /v1/assistants/:id": {
    readonly 200: AssistantAt & { readonly assistant: AssistantDocument };
  };
  readonly "PUT /v1/assistants/:id": { readonly 200: AssistantAt };
  readonly "DELETE /v1/assistants/:id": { readonly 204: null };
  readonly "GET /v1/page": {
    readonly 200: {
      readonly assistantId: string;
      /** The files that the model of a chat takes. */
      readonly takes: { readonly images: boolean; readonly documents: boolean };
    } & Pick<AssistantDocument, "heading" | "suggestions">;
  };
  readonly "PUT /v1/connections/:id": { readonly 204: null };
  readonly "DELETE /v1/connections/:id": { readonly 204: null };
  readonly "GET /v1/providers": {
    readonly 200: { readonly providers: readonly ShownProvider[] };
  };
  readonly "GET /v1/providers/:id": { readonly 200: ShownProvider };
  readonly "PUT /v1/providers/:id": { readonly 204: null };
  readonly "DELETE /v1/providers/:id": { readonly 204: null };
  readonly "POST /v1/embed-tokens": {
    readonly 200: { readonly token: string; readonly expiresAt: string };
  };
  readonly "GET /v1/audit": {
    readonly 200:
      | Page<
          | (Pick<AuditPage, "removed" | "checkpoint"> & {
              readonly records: readonly AuditRecord[];
            })
          | { readonly history: readonly PromptHistoryEntry[] }
        >
      | "application/jsonl";
  };
  readonly "GET /v1/people/:id/export": { readonly 200: PersonExport };
  readonly "GET /v1/people/:id/erasure": { readonly 200: ShownErasure };
  readonly "POST /v1/people/:id/erasure": { readonly 202: ShownErasure };
  readonly "GET /v1/workspaces": {
    readonly 200: {
      readonly workspaces: readonly { readonly name: string; readonly id: string }[];
    };
  };
  readonly "GET /v1/workspaces/:name/:id/changes": { readonly 200: Stream };
  readonly "GET /v1/metrics": { readonly 200: "application/openmetrics-text" };
  readonly "GET /v1/usage": { readonly 200: UsageReport };
  readonly "POST /v1/runs/:id/replay": {
    readonly 200: { readonly runId: RunId; readonly outcome: "equal" | "different" } & ReplayResult;
  };
  readonly "POST /v1/policy/dry-run": { readonly 200: DryRunAnswer };
  readonly "POST /api/chat": { readonly 200: Stream };
  readonly "GET /api/chat/:id/stream": UiChat;
  readonly "POST /api/chat/:id/stop": { readonly 204: null };
  readonly "POST /api/v6/chat": { readonly 200: Stream };
  readonly "GET /api/v6/chat/:id/stream": UiChat;
  readonly "POST /api/v6/chat/:id/stop": { readonly 204: null };
  readonly "POST /api/data-stream": { readonly 200: Stream };
  readonly "POST /agui": { readonly 200: Stream };
  readonly "POST /v1/responses": { readonly 200: Foreign | Stream };
  readonly "GET /v1/responses/:id": { readonly 200: Foreign | Stream };
  readonly "POST /v1/responses/:id/cancel": { readonly 200: Foreign };
  readonly "POST /v1/chat/completions": { readonly 200: Foreign | Stream };
  readonly "GET /v1/models": { readonly 200: Foreign };
}

interface Deletion {
  readonly conversationId: string;
  /** Runs that still deliver something. */
  readonly turnsLeft: number;
  readonly kept: readonly "audit"[];
}

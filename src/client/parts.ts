import type { AskedApproval, ListedOutcome } from "../../.interlock/api.ts";
import type { Result } from "../protocol/outcome/result.ts";
import type { Wait } from "./backoff.ts";
import type { Answered, BodyOf, Call, CallOptions, QueryOf } from "./call.ts";
import type { Failure } from "./failure.ts";

/** How an approval is watched. */
export interface WatchOptions extends Pick<CallOptions, "signal"> {
  /** How often the approval is read; every 5 seconds unless said. */
  readonly everyMs?: number | undefined;
}

/** Approvals: what waits for people, and their decisions. */
export interface ApprovalCalls {
  list(query?: QueryOf<"GET /v1/approvals">): Answered<"GET /v1/approvals">;
  get(approvalId: string): Answered<"GET /v1/approvals/{id}">;
  decide(
    approvalId: string,
    body: BodyOf<"POST /v1/approvals/{id}/decisions">,
  ): Answered<"POST /v1/approvals/{id}/decisions">;
  /**
   * Yields each state of an approval until it is closed, and goes on with the one that takes its
   * place. Contract: a failure is the last value; after an abort there is none.
   */
  watch(
    approvalId: string,
    options?: WatchOptions,
  ): AsyncGenerator<Result<AskedApproval, Failure>, void, undefined>;
}

/** Calls whose outcome an operator has to report. */
export interface OutcomeCalls {
  list(query?: QueryOf<"GET /v1/outcomes">): Answered<"GET /v1/outcomes">;
  report(
    call: Pick<ListedOutcome, "runId" | "invocationId">,
    outcome: BodyOf<ReportOutcome>["outcome"],
  ): Answered<ReportOutcome>;
}

/** What runs could not settle. */
export interface EscalationCalls {
  list(query?: QueryOf<"GET /v1/escalations">): Answered<"GET /v1/escalations">;
  /** Takes, releases or settles one. */
  act(
    escalationId: string,
    body: BodyOf<"POST /v1/escalations/{id}">,
  ): Answered<"POST /v1/escalations/{id}">;
}

/** What people call chats. */
export interface ConversationCalls {
  list(query?: QueryOf<"GET /v1/conversations">): Answered<"GET /v1/conversations">;
  messages(
    conversationId: string,
    query?: QueryOf<"GET /v1/conversations/{id}/messages">,
  ): Answered<"GET /v1/conversations/{id}/messages">;
  rename(conversationId: string, title: string): Answered<"PATCH /v1/conversations/{id}">;
  delete(conversationId: string): Answered<"DELETE /v1/conversations/{id}">;
}

/** Short names of what programs do most. */
export interface ClientParts {
  readonly approvals: ApprovalCalls;
  readonly outcomes: OutcomeCalls;
  readonly escalations: EscalationCalls;
  readonly conversations: ConversationCalls;
  /** Undoes a completed call, where its contract can. */
  undo(runId: string, invocationId: string): Answered<UndoCall>;
  /** Stops a run. */
  cancel(runId: string): Answered<"POST /v1/runs/{id}/cancel">;
}

type ReportOutcome = "POST /v1/runs/{id}/invocations/{invocationId}/outcome";
type UndoCall = "POST /v1/runs/{id}/invocations/{invocationId}/compensate";

const WATCH_EVERY_MS = 5_000;

/** Makes the short names on the call of any operation. */
export function createParts(call: Call, wait: Wait): ClientParts {
  return {
    approvals: {
      list: (query = {}) => call("GET /v1/approvals", { query }),
      get: (id) => call("GET /v1/approvals/{id}", { path: { id } }),
      decide: (id, body) => call("POST /v1/approvals/{id}/decisions", { path: { id }, body }),
      watch: (id, options = {}) => watch({ call, wait }, id, options),
    },
    outcomes: {
      list: (query = {}) => call("GET /v1/outcomes", { query }),
      report: ({ runId: id, invocationId }, outcome) =>
        call("POST /v1/runs/{id}/invocations/{invocationId}/outcome", {
          path: { id, invocationId },
          body: { outcome },
        }),
    },
    escalations: {
      list: (query = {}) => call("GET /v1/escalations", { query }),
      act: (id, body) => call("POST /v1/escalations/{id}", { path: { id }, body }),
    },
    conversations: {
      list: (query = {}) => call("GET /v1/conversations", { query }),
      messages: (id, query = {}) =>
        call("GET /v1/conversations/{id}/messages", { path: { id }, query }),
      rename: (id, title) =>
        call("PATCH /v1/conversations/{id}", { path: { id }, body: { title } }),
      delete: (id) => call("DELETE /v1/conversations/{id}", { path: { id } }),
    },
    undo: (id, invocationId) =>
      call("POST /v1/runs/{id}/invocations/{invocationId}/compensate", {
        path: { id, invocationId },
      }),
    cancel: (id) => call("POST /v1/runs/{id}/cancel", { path: { id } }),
  };
}

async function* watch(
  { call, wait }: { readonly call: Call; readonly wait: Wait },
  first: string,
  { signal = new AbortController().signal, everyMs = WATCH_EVERY_MS }: WatchOptions,
): AsyncGenerator<Result<AskedApproval, Failure>, void, undefined> {
  let id = first;
  for (let shown = ""; !signal.aborted; await wait(everyMs, signal)) {
    const read = await call("GET /v1/approvals/{id}", { path: { id }, signal });
    if (signal.aborted) return;
    if (!read.ok) return yield read;
    const { status, supersededBy } = read.value;
    const next = JSON.stringify(read.value);
    if (next !== shown) yield read;
    shown = next;
    if (supersededBy !== undefined) id = supersededBy;
    // The run first has to request the approval that takes the place of a superseded one.
    else if (status !== "pending" && status !== "superseded") return;
  }
}

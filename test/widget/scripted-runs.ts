import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import type { RunSummary } from "../../src/protocol/run/summary.ts";
import type { RunTrace } from "../../src/protocol/run/trace.ts";
import type { Reply } from "./scripted-approvals.ts";

/** A fake of the list of runs and of their traces. */
export class ScriptedRuns {
  readonly #traces = new Map<string, object>();
  readonly #summaries: RunSummary[] = [];

  /** Adds a run, the newest first. */
  put({ trace, records, ...more }: TracedRun): void {
    const { run, claim } = trace;
    const { runId, status, model, timestamps, call } = run;
    const { actorId } = claim;
    const toolIds = trace.calls.map(({ name }) => name);
    const counts = { steps: run.steps, toolCalls: toolIds.length, toolIds, ...(call && { call }) };
    this.#summaries.unshift({ runId, status, model, actorId, ...counts, ...timestamps, ...more });
    this.#traces.set(runId, { runId, ...trace, records: records.map(toRecord) });
  }

  /** Adds a run that is only listed, the newest first. */
  list(summary: RunSummary): void {
    this.#summaries.unshift(summary);
  }

  /** When set, the list is refused with these words. */
  refusal: string | undefined;
  /** Runs of one page of the list. */
  pageSize = 100;

  /** False: the deployment does not name `replayRuns`. */
  decidesAgain = true;

  owns(path: string): boolean {
    return /^\/v1\/(?:usage|policy|runs(?:\?|\/[^/]+\/trace))/.test(path);
  }

  answer(path: string, posted: string): Reply {
    if (path === "/v1/policy") return { status: 200, body: { revision: 3, policy: POLICY } };
    if (path === "/v1/policy/dry-run") return this.#tryPolicy(posted);
    if (path.startsWith("/v1/usage")) return { status: 200, body: { days: COSTS } };
    const [, id] = /^\/v1\/runs\/([^/]+)\/trace/.exec(path) ?? [];
    if (id === undefined) {
      if (this.refusal !== undefined) {
        return { status: 403, body: { code: "scope_missing", title: this.refusal } };
      }
      const query = new URL(path, "http://x").searchParams;
      const [status, tool] = ["status", "tool"].map((name) => query.get(name));
      const runs = this.#summaries
        .filter((run) => !status || run.status === status)
        .filter((run) => !tool || run.toolIds?.includes(tool));
      const from = Number(query.get("cursor") ?? 0);
      const end = from + this.pageSize;
      const next = end < runs.length && { next: String(end) };
      return { status: 200, body: { runs: runs.slice(from, end), ...next } };
    }
    const body = this.#traces.get(decodeURIComponent(id));
    return body
      ? { status: 200, body }
      : { status: 404, body: { code: "run_not_found", title: "There is no such run." } };
  }

  #tryPolicy(posted: string): Reply {
    if (!this.decidesAgain) return { status: 404, body: { code: "unknown_route", title: "No." } };
    const { policy } = JSON.parse(posted) as { policy?: { allowedTools?: readonly string[] } };
    const { allowedTools } = policy ?? {};
    if (!allowedTools) {
      const errors = [{ pointer: "/policy/allowedTools", message: "expected a list" }];
      const title = "The request is not valid.";
      return { status: 422, body: { code: "invalid_request", title, errors } };
    }
    const changed = allowedTools.includes("desk__search") ? [] : [CHANGED];
    return { status: 200, body: { runs: 2, calls: 3, undecided: 1, changed } };
  }
}

const POLICY = { allowedTools: ["desk__search", "bank__transfer"] };

/** The newest first, as the API lists them. */
const COSTS = [
  {
    day: "2026-11-27",
    cost: [{ currency: "EUR", amount: 0.5 }],
    models: [{ assistantId: "desk", model: "cheap", cost: [{ currency: "EUR", amount: 0.1 }] }],
    tools: [{ toolId: "bank__transfer", cost: [{ currency: "EUR", amount: 0.4 }] }],
  },
  {
    day: "2026-11-25",
    cost: [{ currency: "EUR", amount: 0.2 }],
    models: [{ assistantId: "desk", model: "cheap", cost: [{ currency: "EUR", amount: 0.2 }] }],
    tools: [],
  },
];

/** What becomes of the calls of the paid run when `desk__search` is forbidden. */
const CHANGED = {
  runId: "run_paid",
  invocationId: "inv_1",
  toolId: "desk__search",
  toolVersion: "1.0.0",
  askedAt: "2026-11-27T08:00:01.000Z",
  from: { decision: "allowed" },
  to: { decision: "refused", gate: "policy", code: "not_allowed", rules: ["/allowedTools"] },
};

interface TracedRun extends Partial<Pick<RunSummary, "title" | "subjectId">> {
  readonly trace: RunTrace;
  readonly records: readonly AuditEntry[];
}

function toRecord(entry: AuditEntry, at: number): object {
  return { seq: at + 1, prevHash: "sha256:0", hash: "sha256:1", entry };
}

const at = (seconds: number): string =>
  new Date(Date.UTC(2026, 10, 27, 8) + seconds * 1_000).toISOString();
const usage = { inputTokens: 1_200, outputTokens: 340 };

/** A run with a read, a refused call, and a payment for which two people had to approve. */
export function paidRun(change: { readonly hostile?: string } = {}): TracedRun {
  const { hostile = "desk__search" } = change;
  const call = { attempts: 1, version: "1.0.0", dispatches: 1 } as const;
  const asked = { toolId: "bank__transfer", toolVersion: "1.0.0", riskClass: "CRITICAL_MUTATION" };
  const rule = {
    pattern: "dual_control",
    roles: ["finance"],
    excludesRequester: true,
    ttlSeconds: 3600,
  };
  const request = { ...asked, requestedBy: "user:ann", invocationId: "inv_3", changedShown: 0 };
  const vote = (approverId: string, seconds: number) => ({
    approverId,
    roles: ["finance"],
    decision: "approve",
    at: at(seconds),
  });
  const policy = { revision: 7, hash: `sha256:${"5".repeat(64)}` };
  const trace = {
    run: {
      runId: "run_paid",
      status: "completed",
      reason: "stop",
      model: "gpt-6.1-terra",
      steps: 3,
      recoveries: 0,
      usage,
      timestamps: { createdAt: at(0), endedAt: at(7_300) },
    },
    claim: { actorId: "agent:clerk", subjectId: "user:ann", roles: ["clerk"], scopes: ["chat"] },
    pins: {
      graphId: "default",
      assistant: { id: "default", hash: "sha256:2", revision: 4 },
      policy,
      promptHash: `sha256:${"3f".repeat(32)}`,
      wire: "responses",
      observationSchema: 1,
      wrapperVersion: "0.1.0",
    },
    steps: [
      { step: 1, model: "gpt-6.1-terra", finish: "tool_calls", usage },
      { step: 2, model: "gpt-6.1-terra", finish: "tool_calls", usage },
      { step: 3, model: "gpt-6.1-luna", finish: "stop", usage },
    ],
    calls: [
      {
        ...call,
        toolCallId: "1",
        invocationId: "inv_1",
        name: hostile,
        step: 1,
        state: "COMPLETED",
        outcome: "SUCCESS",
        proposedAt: at(4),
        startedAt: at(4),
        dispatchedAt: at(4),
        endedAt: at(9),
        reserved: { reads: 1 },
      },
      {
        ...call,
        toolCallId: "2",
        invocationId: "inv_2",
        name: "bank__close",
        step: 2,
        state: "FAILED_FINAL",
        outcome: "POLICY_VIOLATION",
        dispatches: 0,
        proposedAt: at(14),
        startedAt: at(14),
        endedAt: at(14),
      },
      {
        ...call,
        toolCallId: "3",
        invocationId: "inv_3",
        name: "bank__transfer",
        step: 2,
        state: "COMPENSATED",
        outcome: "SUCCESS",
        attempts: 2,
        dispatches: 2,
        proposedAt: at(14),
        startedAt: at(14),
        dispatchedAt: at(7_220),
        endedAt: at(7_232),
        reserved: { critical: 1, cost: 250_000 },
        undo: { status: "undone", toolId: "bank__refund", runId: "run_undo" },
      },
    ],
    approvals: [
      {
        ...request,
        approvalId: "appr_1",
        status: "superseded",
        supersededBecause: "terms_changed",
        required: 1,
        approvals: 1,
        requirements: [{ ...rule, required: 1, approvals: 1 }],
        requestedAt: at(14),
        closedAt: at(3_600),
        expiresAt: at(9_000),
        policy,
        termsHash: "sha256:4",
        votes: [vote("user:bob", 3_500)],
      },
      {
        ...request,
        approvalId: "appr_2",
        status: "approved",
        required: 2,
        approvals: 2,
        requirements: [{ ...rule, required: 2, approvals: 2 }],
        requestedAt: at(3_600),
        closedAt: at(7_220),
        expiresAt: at(9_000),
        consumedAt: at(7_220),
        policy: { ...policy, revision: 8 },
        termsHash: "sha256:5",
        changedTerms: [{ term: "required", before: 1, after: 2 }],
        votes: [vote("user:bob", 3_700), vote("user:cat", 7_219)],
      },
    ],
    spending: { tokens: 4_620, cost: 31_000 },
    incarnations: { count: 2, recoveries: 1, stop: null },
    notices: { arePending: false },
  };
  const passed = [
    "lookup",
    "still_wanted",
    "policy",
    "caller",
    "data",
    "parse",
    "arguments",
    "rules",
    "authorise",
  ];
  const ended = { action: "call.ended", policyRevision: 7 } as const;
  const records = [
    {
      action: "run.started",
      at: at(0),
      actorId: "agent:clerk",
      subjectId: "user:ann",
      assistantId: "default",
      assistantRevision: 4,
    },
    {
      ...ended,
      at: at(9),
      invocationId: "inv_1",
      outcome: "SUCCESS",
      durationMs: 5_000,
      gates: { passed },
      input: { query: "invoices" },
      result: { found: 3 },
    },
    {
      ...ended,
      at: at(14),
      invocationId: "inv_2",
      outcome: "POLICY_VIOLATION",
      reason: "not_allowed",
      durationMs: 1,
      gates: { passed: ["lookup", "still_wanted"], refusedBy: "policy" },
    },
    { action: "approval.requested", at: at(14), invocationId: "inv_3", decision: "dual_control" },
    { action: "approval.closed", at: at(3_600), invocationId: "inv_3", decision: "superseded" },
    {
      action: "approval.voted",
      at: at(3_700),
      invocationId: "inv_3",
      actorId: "user:bob",
      decision: "approve",
    },
    {
      action: "approval.voted",
      at: at(7_219),
      invocationId: "inv_3",
      actorId: "user:cat",
      decision: "approve",
      reason: "checked with the bank",
    },
    {
      ...ended,
      at: at(7_232),
      policyRevision: 8,
      invocationId: "inv_3",
      outcome: "SUCCESS",
      durationMs: 12_000,
      gates: { passed: [...passed, "approval", "budget"] },
      input: { to: "bakery", amount: 40 },
    },
    {
      action: "undo.ended",
      at: at(9_000),
      invocationId: "inv_3",
      actorId: "user:ann",
      decision: "undone",
    },
    {
      action: "model.changed",
      at: at(7_240),
      decision: "from gpt-6.1-terra to gpt-6.1-luna",
      reason: "overloaded",
    },
    { action: "run.ended", at: at(7_300), decision: "stop" },
  ];
  return { title: "Pay the bakery", subjectId: "user:ann", trace, records } as unknown as TracedRun;
}

/** The run that undid the payment, and one that waits for people in its first step. */
export function fillRuns(runs: ScriptedRuns): void {
  const paid = paidRun();
  const { trace } = paid;
  const none = { calls: [], approvals: [], steps: [] };
  runs.put({
    trace: {
      ...trace,
      ...none,
      run: {
        ...trace.run,
        runId: "run_undo" as never,
        model: "none",
        call: {
          toolId: "bank__refund",
          undoes: { runId: "run_paid" as never, invocationId: "inv_3" },
        },
      },
    },
    records: [],
  });
  const { reason: _, ...open } = trace.run;
  const [first] = trace.steps;
  runs.put({
    title: "A question",
    trace: {
      ...trace,
      ...none,
      steps: first ? [first] : [],
      run: { ...open, runId: "run_open" as never, status: "waiting", steps: 1 },
      notices: { arePending: true },
    },
    records: [],
  });
  runs.put(paid);
}

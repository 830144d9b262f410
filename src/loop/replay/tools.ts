import type { ConnectionBroker } from "../../capabilities/connection.ts";
import type {
  BoundToolRuntime,
  BoundTools,
  ToolAnswer,
  ToolSourcePort,
} from "../../capabilities/tool.ts";
import type { JsonObject, JsonValue } from "../../protocol/json/value.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { mayHaveChanged } from "../../protocol/outcome/response-vector.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { KeptContent } from "../../protocol/tool/content.ts";
import type { TaxonomyClass } from "../../protocol/outcome/taxonomy.ts";
import type {
  ToolInvocationContext,
  ToolInvocationRecord,
} from "../../protocol/invocation/record.ts";
import { redeemTicket } from "../../contracts/bind/dispatch-ticket.ts";
import { mutates } from "../../runner/active-call.ts";
import { TIMED_OUT } from "../../runner/author-code/ask-tool.ts";
import { codeOf } from "./evidence.ts";
import { NEVER_SECONDS } from "./model.ts";
import type { Replay } from "./replay.ts";

/**
 * Wraps the tools of a source for a replay. Their contracts decide as always, and they never run: a
 * dispatched call answers with its recorded outcome.
 */
export function replayTools(replay: Replay, source: ToolSourcePort): ToolSourcePort {
  const wrap = (tools: BoundTools): BoundTools => ({
    listToolSpecs: () => tools.listToolSpecs(),
    getBoundTool(toolId, version) {
      const tool = tools.getBoundTool(toolId, version);
      return tool && replayTool(replay, tool);
    },
  });
  return { load: async (tenantId) => wrap(await source.load(tenantId)) };
}

function replayTool(replay: Replay, tool: BoundToolRuntime): BoundToolRuntime {
  const { preview, reconcile } = tool;
  const { recordOf } = replay;
  return {
    ...tool,
    checkState: (_args, context) => Promise.resolve(stateFailureOf(replay, tool, context)),
    ...(preview && {
      preview: (_args, context) => Promise.resolve(shownStates(replay, recordOf(context))),
    }),
    async performDispatched(ticket) {
      const { context, scope } = redeemTicket(ticket, tool);
      const { idempotencyKey } = scope;
      const record = recordOf(context);
      if (record?.dispatches === 0) throw refuseDispatch(replay, record);
      // Another payload, version or user: the recorded outcome belongs to another operation.
      if (record?.binding?.idempotencyKey !== idempotencyKey) throw new Error("another operation");
      return handOver(replay, tool, record);
    },
    ...(reconcile && {
      reconcile: (_args, context) => Promise.resolve(foundEffect(recordOf(context))),
    }),
    // The output was valid when it was recorded. Its stored rest need not be valid.
    validateOutput: (output) => (output === LOST ? NO_OUTPUT : ok(output as JsonObject)),
    readDetails: () => undefined,
    readContent: (content) => ok((content ?? []) as readonly KeptContent[]),
  };
}

/** What the contract's `reconcile` found: the effect, or nothing that it could tell. */
function foundEffect(
  record: ToolInvocationRecord | undefined,
): Awaited<ReturnType<NonNullable<BoundToolRuntime["reconcile"]>>> {
  const { awaitedUntilMs, end } = record ?? {};
  const isHit = end?.observation.execution_metadata.idempotency_hit === true;
  const isFound = record !== undefined && isHit && awaitedUntilMs === undefined;
  return isFound ? { kind: "committed", output: outputOf(record) } : { kind: "unknown" };
}

/** Replays whether a connection existed. It never gives out credentials. */
export function replayBroker({ recordOf }: Pick<Replay, "recordOf">): ConnectionBroker {
  return {
    bind(_tenantId, _connectionId, { call }) {
      const record = call && recordOf(call);
      const code = record?.dispatches === 0 ? codeOf(record) : undefined;
      const isRefused = code === "unknown_connection" || code === "unreadable_connection";
      return Promise.resolve(
        isRefused ? fail({ code }) : ok({ auth: NO_CREDENTIALS, secrets: [] }),
      );
    },
  };
}

const NO_CREDENTIALS = {
  getAccessToken: () => Promise.reject(new Error("there are no credentials in a replay")),
  getAuthHeaders: () => Promise.reject(new Error("there are no credentials in a replay")),
};

/** Stands for an output that is not stored because it was invalid. */
const LOST = Symbol("lost");
const NO_OUTPUT = fail<ToolFailure>({ taxonomyClass: "TYPE_MISMATCH", errors: [] });

function outputOf({ end }: ToolInvocationRecord): JsonObject | typeof LOST {
  return end?.output ?? end?.observation.result_payload.data ?? LOST;
}

/** The states that people saw, or the one that the contract read after the call was stale. */
function shownStates(
  { people, markNotReplayable }: Replay,
  record: ToolInvocationRecord | undefined,
): { readonly before?: JsonValue | undefined; readonly after?: JsonValue | undefined } {
  const before = refreshedState(record);
  if (before !== undefined) return { before };
  const asked = record && people.newest(record.number);
  if (asked) return { before: asked.packet.beforeState, after: asked.packet.afterState };
  const isStale = record?.end?.observation.status.taxonomy_class === "STALE_STATE";
  if (!isStale) markNotReplayable("unclear");
  return {};
}

/** The state that the contract read after the call was stale. */
function refreshedState(record: ToolInvocationRecord | undefined): JsonValue | undefined {
  const { status, result_payload: payload } = record?.end?.observation ?? {};
  return status?.taxonomy_class === "STALE_STATE" ? payload?.data?.["current_state"] : undefined;
}

/**
 * Reads the state check's recorded failure: a refusal whose code belongs to no other gate. A call
 * that a stop ended before it began fails here too, because no record holds how far it came.
 */
function stateFailureOf(
  { recordOf, stop }: Replay,
  { errorClasses }: BoundToolRuntime,
  context: ToolInvocationContext,
): Result<null, ToolFailure> {
  const record = recordOf(context);
  if (!record?.end || record.dispatches > 0) return ok(null);
  if (stop.hasEnded(record)) return fail(failureOf(record));
  if (record.amounts) return ok(null);
  const { taxonomy_class: taxonomyClass } = record.end.observation.status;
  const code = codeOf(record) ?? "";
  const isItsOwn =
    errorClasses.has(code) ||
    (taxonomyClass === "STALE_STATE" && code !== "skipped") ||
    (taxonomyClass === "TIMEOUT" && code === TIMED_OUT);
  return isItsOwn ? fail(failureOf(record)) : ok(null);
}

/** Refuses a call that the run did not dispatch. Marks the run when the record holds no reason. */
function refuseDispatch({ markNotReplayable }: Replay, record: ToolInvocationRecord): Error {
  const code = codeOf(record) ?? "";
  if (code === "skipped" || code === "tool_failed") markNotReplayable("unclear");
  return new Error("this call was not dispatched");
}

/** Answers with the recorded outcome of a call. */
function handOver(
  { clock, stop }: Replay,
  tool: BoundToolRuntime,
  record: ToolInvocationRecord,
): ToolAnswer {
  const { awaitedUntilMs, end, measured } = record;
  // The price of a tool that is paid by the second follows from the time that it took.
  clock.set(clock.nowMs() + (measured?.totalMs ?? 0));
  if (!end) throw new Error("this call has not ended");
  if (stop.hasEnded(record)) stop.noteDispatch(record);
  if (end.endedBy?.who === "hook" && end.endedBy.withheld === "result") return ok({});
  const isLost = awaitedUntilMs !== undefined || end.observation.execution_metadata.idempotency_hit;
  if (isLost) return NO_ANSWER;
  if (record.state === "EXPIRED") return stoppedMeanwhile(record);
  const failure = end.observation.status.is_error ? failureOf(record) : undefined;
  if (!failure) return { ...ok(outputOf(record)), content: end.content };
  const mutating = { dispatched: true, mutates: mutates(tool) };
  // Without the tool's statement that nothing happened, an operator would have been asked.
  // The class of a failed undo says nothing about the tool.
  const ofTool = tool.errorClasses.get(codeOf(record) ?? "") ?? failure.taxonomyClass;
  const isNotCommitted =
    mayHaveChanged(ofTool, mutating) ||
    (mutating.mutates && !tool.isIdempotent && end.response.retryable);
  return fail({ ...failure, ...(isNotCommitted && { notCommitted: true }) });
}

/** The tool's answer was lost. The contract's `reconcile` found the effect, or nobody did. */
const NO_ANSWER = fail<ToolFailure>({
  taxonomyClass: "DEPENDENCY_UNAVAILABLE",
  errors: [],
  retryAfterMs: NEVER_SECONDS * 1_000,
});

/** Reads how a write failed whose outcome nobody asked about, because the run was stopped. */
function stoppedMeanwhile(record: ToolInvocationRecord): ToolAnswer {
  const { errors, ...failure } = failureOf(record);
  return fail({ ...failure, errors: errors.slice(0, -1) });
}

/** Reads the failure that a call ended with. It was the last attempt, so no retry follows. */
function failureOf({ end }: ToolInvocationRecord): ToolFailure {
  const { status, result_payload: payload } = end?.observation ?? {};
  const errors = (payload?.errors ?? []).filter(({ code }) => code !== "repair_ended");
  return {
    taxonomyClass: (status?.taxonomy_class ?? "UNKNOWN_ERROR") as Exclude<
      TaxonomyClass,
      "SUCCESS" | "PARTIAL_SUCCESS"
    >,
    errors,
    retryAfterMs: NEVER_SECONDS * 1_000,
  };
}

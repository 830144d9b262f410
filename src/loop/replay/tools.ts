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
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import { redeemTicket } from "../../contracts/bind/dispatch-ticket.ts";
import { mutates } from "../../runner/active-call.ts";
import { TIMED_OUT } from "../../runner/author-code/ask-tool.ts";
import { operationIdOf, type Operation } from "../../runner/invocation/invocation-ledger.ts";
import { NEVER_SECONDS } from "./model.ts";
import type { Replay } from "./evidence.ts";

/**
 * Wraps the tools of a source for a replay. Their contracts decide as always, and they never run: a
 * dispatched call answers with its recorded outcome.
 */
export function replayTools(replay: Replay, source: ToolSourcePort): ToolSourcePort {
  const records = new Map(
    replay.evidence.invocations.map((record) => [operationIdOf(record), record]),
  );
  const recordOf = (operation: Operation): ToolInvocationRecord | undefined =>
    records.get(operationIdOf(operation));
  const wrap = (tools: BoundTools): BoundTools => ({
    listToolSpecs: () => tools.listToolSpecs(),
    getBoundTool(toolId, version) {
      const tool = tools.getBoundTool(toolId, version);
      return tool && replayTool(replay, tool, recordOf);
    },
  });
  return { load: async (tenantId) => wrap(await source.load(tenantId)) };
}

function replayTool(
  replay: Replay,
  tool: BoundToolRuntime,
  recordOf: (operation: Operation) => ToolInvocationRecord | undefined,
): BoundToolRuntime {
  const { preview } = tool;
  return {
    ...tool,
    checkState: (_args, context) => Promise.resolve(stateFailureOf(tool, recordOf(context))),
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
      return handOver(tool, record);
    },
    reconcile(_args, context) {
      const record = recordOf(context);
      const isFound = record?.end?.observation.execution_metadata.idempotency_hit === true;
      return Promise.resolve(
        isFound ? { kind: "committed", output: outputOf(record) } : { kind: "unknown" },
      );
    },
    // The output was valid when it was recorded. Its stored rest need not be valid.
    validateOutput: (output) => (output === LOST ? NO_OUTPUT : ok(output as JsonObject)),
    readDetails: () => undefined,
    readContent: (content) => ok((content ?? []) as readonly KeptContent[]),
  };
}

/** Replays whether a connection existed. It never gives out credentials. */
export function replayBroker({ evidence, answered }: Replay): ConnectionBroker {
  return {
    bind() {
      // Calls that need a connection run in the order asked.
      const current = evidence.invocations.find(({ toolCallId }) => !answered.has(toolCallId));
      const code = current?.dispatches === 0 ? codeOf(current) : undefined;
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
  { evidence, markNotReplayable }: Replay,
  record: ToolInvocationRecord | undefined,
): { readonly before?: JsonValue | undefined; readonly after?: JsonValue | undefined } {
  const before = refreshedState(record);
  if (before !== undefined) return { before };
  const asked = evidence.approvals?.find(({ invocation }) => invocation === record?.number);
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

function codeOf({ end }: ToolInvocationRecord): string | undefined {
  return end?.observation.result_payload.errors[0]?.code;
}

/** Reads the state check's recorded failure: a refusal whose code belongs to no other gate. */
function stateFailureOf(
  { errorClasses }: BoundToolRuntime,
  record: ToolInvocationRecord | undefined,
): Result<null, ToolFailure> {
  if (!record?.end || record.dispatches > 0 || record.amounts) return ok(null);
  const { taxonomy_class: taxonomyClass } = record.end.observation.status;
  const code = codeOf(record) ?? "";
  const isItsOwn =
    errorClasses.has(code) ||
    (taxonomyClass === "STALE_STATE" && code !== "skipped") ||
    (taxonomyClass === "TIMEOUT" && code === TIMED_OUT);
  return isItsOwn ? fail(failureOf(record)) : ok(null);
}

/** The policy codes of gates. A deployment's hook has other codes. */
const POLICY_CODES: ReadonlySet<string> = new Set(["not_allowed", "argument_rule", "no_policy"]);

/** Refuses a call that the run did not dispatch. Marks the run when the record holds no reason. */
function refuseDispatch({ markNotReplayable }: Replay, record: ToolInvocationRecord): Error {
  const code = codeOf(record) ?? "";
  const taxonomyClass = record.end?.observation.status.taxonomy_class;
  if (taxonomyClass === "POLICY_VIOLATION" && !POLICY_CODES.has(code)) markNotReplayable("vetoed");
  if (code === "skipped" || code === "tool_failed") markNotReplayable("unclear");
  return new Error("this call was not dispatched");
}

/** Answers with the recorded outcome of a call. */
function handOver(tool: BoundToolRuntime, record: ToolInvocationRecord): ToolAnswer {
  const { end } = record;
  if (!end) throw new Error("this call has not ended");
  if (end.observation.execution_metadata.idempotency_hit) return FOUND_LATER;
  const failure = end.observation.status.is_error ? failureOf(record) : undefined;
  if (!failure) return { ...ok(outputOf(record)), content: end.content };
  const mutating = { dispatched: true, mutates: mutates(tool) };
  // Without the tool's statement that nothing happened, an operator would have been asked.
  const isNotCommitted =
    mayHaveChanged(failure.taxonomyClass, mutating) ||
    (mutating.mutates && !tool.isIdempotent && end.response.retryable);
  return fail({ ...failure, ...(isNotCommitted && { notCommitted: true }) });
}

/** The tool's answer was lost, and the contract's `reconcile` found the effect. */
const FOUND_LATER = fail<ToolFailure>({
  taxonomyClass: "DEPENDENCY_UNAVAILABLE",
  errors: [],
  retryAfterMs: NEVER_SECONDS * 1_000,
});

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

import type { ApprovalDesk } from "../../capabilities/approval.ts";
import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import type { Operation, ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { JsonObject, JsonValue } from "../../protocol/json/value.ts";
import type { EarlierResult, FlowEvidence } from "../../protocol/policy/data-flow.ts";
import { parseArguments } from "../../protocol/tool/call.ts";
import type { InvocationLedger } from "../invocation/invocation-ledger.ts";

/** Tells what a run knows of the origin of its calls. */
export interface FlowPort {
  /** Undefined for a call to which no data-flow rule applies. */
  evidenceOf(operation: Operation, tool: BoundToolRuntime): FlowEvidence | undefined;
}

/** The calls of a run, and the approvals of them. */
export type FlowCalls = Pick<InvocationLedger, "find" | "ended">;
export type FlowApprovals = Pick<ApprovalDesk, "newest">;
/** Lists the conversation of a run. */
export type FlowMessages = () => readonly TranscriptMessage[];

/** The call has passed these rules already. */
export const NO_FLOW: FlowPort = { evidenceOf: () => undefined };

/**
 * Reads the evidence from the records of a run. An undo, and the way back of a saga, restore what
 * was: no rule holds them up.
 * Contract: what it tells of a call is the same in every attempt, in every incarnation.
 */
export function createFlow(
  calls: FlowCalls,
  messages: FlowMessages,
  approvals: FlowApprovals,
): FlowPort {
  return {
    evidenceOf(operation, tool) {
      const record = calls.find(operation);
      if (!record || record.origin === "undo" || record.saga?.compensates) return undefined;
      return {
        after: record.after ?? [],
        isPersons: record.origin === "direct",
        isEdited: record.proposedText !== undefined,
        resultsOf: (toolId) => calls.ended().flatMap((one) => resultOf(one, { toolId, record })),
        used: () => calls.ended().flatMap((one) => writtenWith(approvals, one, record)),
        words: () => [...messages().flatMap(wordsOf), ...answersBefore(calls, record)],
        answer: record.answer ?? {},
        proposed: () => proposedArguments(record, tool),
      };
    },
  };
}

/**
 * Tells whether what a call names counts as used by the person: no stranger can have asked for the
 * call, or people approved it.
 * Threat: text of others makes a model keep a note of an address, so that the address looks known.
 */
export function isOwnUse(
  approvals: FlowApprovals,
  { after, number }: Pick<ToolInvocationRecord, "after" | "number">,
): boolean {
  return after === undefined || approvals.newest(number)?.status === "approved";
}

function writtenWith(
  approvals: FlowApprovals,
  earlier: ToolInvocationRecord,
  { step }: ToolInvocationRecord,
): readonly JsonObject[] {
  const { state, binding } = earlier;
  const isWrite = state === "COMPLETED" && binding?.mutates === true && earlier.step < step;
  return isWrite && isOwnUse(approvals, earlier) ? [binding.shownArgs] : [];
}

/** The result of a successful call that ended before another one was proposed. */
function resultOf(
  { name, step, saga, end, rowSources }: ToolInvocationRecord,
  { toolId, record }: { readonly toolId: string; readonly record: ToolInvocationRecord },
): readonly EarlierResult[] {
  const isEarlierStep =
    saga !== undefined && saga.number === record.saga?.number && saga.step < record.saga.step;
  if (name !== toolId || (step >= record.step && !isEarlierStep)) return [];
  const { status, result_payload: shown } = end?.observation ?? {};
  const isSuccess = status?.taxonomy_class === "SUCCESS";
  return isSuccess && shown?.data
    ? [{ data: shown.data, hasRowsOfOthers: rowSources !== undefined }]
    : [];
}

/**
 * Lists what the person answered about this call and about calls that were proposed before it.
 * Threat: the text of a question counts as the person's word. A model wrote it, or a tool.
 */
function answersBefore(calls: FlowCalls, record: ToolInvocationRecord): readonly string[] {
  const earlier = calls.ended().filter(({ step }) => step < record.step);
  return [...earlier, record].flatMap(({ answer = {} }) =>
    Object.values(answer).filter(isWorded).map(String),
  );
}

/** A yes says nothing by itself. */
function isWorded(value: JsonValue): boolean {
  return typeof value === "string" || typeof value === "number";
}

/**
 * Notes of the system and summaries stand in the conversation as messages of the user too. Threat:
 * a text of others gets into a summary, and counts as the person's words.
 */
function wordsOf(message: TranscriptMessage): readonly string[] {
  if (message.role !== "user") return [];
  const isPersons = message.aboutInvocation === undefined && message.summarises === undefined;
  return isPersons ? [message.text] : [];
}

/** The arguments as the model wrote them; undefined when they cannot be read. */
function proposedArguments(
  { argumentsText, truncated, proposedText = argumentsText }: ToolInvocationRecord,
  tool: BoundToolRuntime,
): JsonObject | undefined {
  const parsed = parseArguments({ argumentsText: proposedText, truncated });
  const valid = parsed.ok ? tool.validateInput(parsed.value) : undefined;
  return valid?.ok ? valid.value : undefined;
}

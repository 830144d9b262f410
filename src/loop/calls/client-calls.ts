import type { TranscriptToolCall } from "../../protocol/conversation/message.ts";
import { MAX_TOOL_ARGUMENTS_BYTES } from "../../protocol/identity/ids.ts";
import {
  findDuplicateKey,
  findProtoKey,
  hasFiniteNumbers,
  nestsTooDeep,
} from "../../protocol/json/guard.ts";
import { isJsonObject, type JsonValue } from "../../protocol/json/value.ts";
import { utf8Bytes } from "../../protocol/text/encoding.ts";
import { parseArguments, type ToolCall } from "../../protocol/tool/call.ts";
import type { RecordedAnswer } from "../../protocol/run/facts.ts";
import type { Transcript } from "../history/transcript.ts";
import type { RunScope } from "../run-scope.ts";

/** What the model reads in place of a result: the run knows none. */
const RETURNED = {
  returned_to: "client",
  note: "The client runs this tool itself. Its result, if any, comes in a later message.",
};
const UNREADABLE = {
  error: `The arguments must be one JSON object of at most ${MAX_TOOL_ARGUMENTS_BYTES} bytes.`,
};

/**
 * Answers the calls of tools of the client in the transcript, and lists the others, which are for
 * the runner. Contract: synchronous, with the answer that asked: no crash comes in between.
 * Threat: such a call counts as one of ours. It gets no invocation, so nothing of ours runs it,
 * approves it or calls it done.
 */
export function setAsideClientCalls(
  { clientTools, state: { transcript } }: Pick<RunScope, "clientTools" | "state">,
  calls: readonly ToolCall[],
): readonly ToolCall[] {
  const names = new Set<string>(clientTools.map(({ name }) => name));
  const kept = transcript.lastToolCalls();
  return calls.filter((call, at) => {
    const { toolCallId, name, argumentsText } = call;
    if (!names.has(name)) return true;
    const isKept = kept[at]?.argumentsText === (argumentsText.trim() || "{}");
    const result = isKept && isReadable(call) ? RETURNED : UNREADABLE;
    transcript.add({ role: "tool", toolCallId, name, result });
    return false;
  });
}

/** Tells whether a client can run the call as the model wrote it, and continue with its result. */
function isReadable(call: ToolCall): boolean {
  const { argumentsText: text } = call;
  if (nestsTooDeep(text) || utf8Bytes(text) > MAX_TOOL_ARGUMENTS_BYTES) return false;
  const parsed = parseArguments(call);
  if (!parsed.ok || !hasFiniteNumbers(parsed.value) || findProtoKey(parsed.value)) return false;
  return text.trim() === "" || findDuplicateKey(text) === undefined;
}

/**
 * Returns the calls of tools of the client: readers get them, and the run ends. Contract: called
 * once the other calls of the step have ended, in the transaction that finishes the step.
 */
export function returnCalls(scope: RunScope, answer: RecordedAnswer): boolean {
  const calls = returnedCalls(scope.state.transcript, answer);
  const events = calls.map(({ toolCallId, name: toolName, argumentsText }) => {
    const parsed = parseArguments({ argumentsText, truncated: false });
    const args = parsed.ok ? parsed.value : {};
    const part = scope.nextPart();
    return { type: "client_tool_call" as const, part, toolCallId, toolName, args };
  });
  if (events.length > 0) scope.journal.append(events);
  return events.length > 0;
}

/** Lists the calls of the last answer that go back to the client. Contract: pure. */
export function returnedCalls(
  transcript: Pick<Transcript, "lastToolCalls" | "lastResults">,
  { finish }: RecordedAnswer,
): readonly TranscriptToolCall[] {
  // A client may have posted such a result; after an answer with calls, all results are ours.
  if (finish !== "tool_calls") return [];
  const results = transcript.lastResults().filter(({ result }) => isReturned(result));
  const ids = new Set(results.map(({ toolCallId }) => toolCallId));
  return transcript.lastToolCalls().filter(({ toolCallId }) => ids.has(toolCallId));
}

/** The observation of one of our calls has no such member. */
function isReturned(result: JsonValue): boolean {
  return isJsonObject(result) && result["returned_to"] === RETURNED.returned_to;
}

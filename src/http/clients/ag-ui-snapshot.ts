import type { RunId } from "../../protocol/identity/ids.ts";
import type { ShownPart, ShownRun } from "../../protocol/conversation/shown.ts";
import {
  callIdOf,
  messageIdOf,
  resultMessage,
  type AgUiEvent,
} from "../../wire/ag-ui/encode-event.ts";
import type { AgUiMessage } from "./ag-ui-post.ts";

/** What a snapshot is made of. */
interface Snapshot {
  /** What the client holds. */
  readonly posted: readonly AgUiMessage[];
  readonly shown: ShownRun;
  /** The client's own id of what the run answers. */
  readonly messageId: string;
  /** The events of the run follow from its first one on. */
  readonly isToldAnew: boolean;
}

/**
 * Restates the messages of a chat: of earlier runs what the client holds, of this run what was
 * recorded. Contract: pure; what a client made up of this run is gone.
 */
export function snapshotEvent({ posted, shown, messageId, isToldAnew }: Snapshot): AgUiEvent {
  const { runId, messages } = shown;
  const begins = messages.findIndex((message) => "parts" in message || "messageId" in message);
  const at = begins === -1 ? messages.length : begins;
  const answer = isToldAnew ? [] : messages.slice(at);
  const said = new Set(answer.flatMap((one) => ("messageId" in one ? (one.messageId ?? []) : [])));
  const earlier = posted.filter((one) => !isAbout(runId, one) && !said.has(one.id));
  const isNew = earlier.every(({ id }) => id !== messageId);
  const asked = messages.slice(0, at).findLast(({ role }) => role === "user");
  const text = asked && "text" in asked ? asked.text : "";
  return {
    type: "MESSAGES_SNAPSHOT",
    messages: [
      ...earlier,
      ...(isNew ? [{ id: messageId, role: "user", content: text }] : []),
      ...(isToldAnew ? emptied(posted, runId) : answerOf(runId, answer)),
    ],
  };
}

/** A client keeps reasoning that a snapshot leaves out, and would add to it. */
function emptied(posted: readonly AgUiMessage[], runId: RunId): readonly AgUiMessage[] {
  return posted.flatMap(({ id, role }) =>
    role === "reasoning" && isOfRun(runId, id) ? [{ id, role, content: "" }] : [],
  );
}

function isOfRun(runId: RunId, id: unknown): boolean {
  return String(id).startsWith(runId);
}

/** Threat: a client posts a result under an id of its own for a call of this run. */
function isAbout(runId: RunId, { id, toolCallId }: AgUiMessage): boolean {
  return isOfRun(runId, id) || isOfRun(runId, toolCallId);
}

/** Restates an answer, and what this client said to the run meanwhile. */
function answerOf(runId: RunId, answer: ShownRun["messages"]): readonly AgUiMessage[] {
  let count = 0;
  return answer.flatMap((message): readonly AgUiMessage[] => {
    if ("parts" in message) {
      const from = count;
      count += message.parts.length;
      return partOf(runId, message.parts, from);
    }
    const { role, text } = message;
    const id = "messageId" in message && message.messageId;
    return id ? [{ id, role, content: text }] : [];
  });
}

/** One message says all of it, as a client that draws an answer as one message wants it. */
function partOf(runId: RunId, parts: readonly ShownPart[], from: number): readonly AgUiMessage[] {
  const answer = { id: "", role: "assistant", content: "", toolCalls: [] as object[] };
  const others: AgUiMessage[] = [];
  for (const [at, part] of parts.entries()) {
    const isCall = part.type === "tool-call";
    const id = isCall ? callIdOf(runId, part.toolCallId) : messageIdOf(runId, from + at);
    if (part.type !== "reasoning") answer.id ||= id;
    if (part.type === "text") answer.content += part.text;
    else if (!isCall) others.push({ id, role: part.type, content: part.text });
    else {
      const { toolName: name, args = {}, result } = part;
      const call = { name, arguments: JSON.stringify(args) };
      answer.toolCalls.push({ id, type: "function", function: call });
      if (result) others.push(resultMessage(id, result));
    }
  }
  return answer.id ? [answer, ...others] : others;
}

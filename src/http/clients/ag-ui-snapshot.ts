import type { RunId } from "../../protocol/identity/ids.ts";
import type { ShownRun } from "../../protocol/conversation/shown.ts";
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
  const { runId } = shown;
  const earlier = posted.filter(({ id }) => !isOfRun(runId, id));
  const isNew = earlier.every(({ id }) => id !== messageId);
  const asked = shown.messages.findLast(({ role }) => role === "user");
  const text = asked && "text" in asked ? asked.text : "";
  return {
    type: "MESSAGES_SNAPSHOT",
    messages: [
      ...earlier,
      ...(isNew ? [{ id: messageId, role: "user", content: text }] : []),
      ...(isToldAnew ? emptied(posted, runId) : answerOf(shown)),
    ],
  };
}

/** A client keeps reasoning that a snapshot leaves out, and would add to it. */
function emptied(posted: readonly AgUiMessage[], runId: RunId): readonly AgUiMessage[] {
  return posted.flatMap(({ id, role }) =>
    role === "reasoning" && isOfRun(runId, id) ? [{ id, role, content: "" }] : [],
  );
}

function isOfRun(runId: RunId, id: string): boolean {
  return id.startsWith(runId);
}

/** One message says all of it, as a client that draws an answer as one message wants it. */
function answerOf({ runId, messages }: ShownRun): readonly AgUiMessage[] {
  const parts = messages.flatMap((message) => ("parts" in message ? message.parts : []));
  const answer = { id: "", role: "assistant", content: "", toolCalls: [] as object[] };
  const others: AgUiMessage[] = [];
  for (const [at, part] of parts.entries()) {
    const isCall = part.type === "tool-call";
    const id = isCall ? callIdOf(runId, part.toolCallId) : messageIdOf(runId, at);
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

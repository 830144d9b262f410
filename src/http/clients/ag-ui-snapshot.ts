import type { RunId } from "../../protocol/identity/ids.ts";
import type { ShownPart, ShownRun } from "../../protocol/conversation/shown.ts";
import {
  callIdOf,
  messageIdOf,
  resultIdOf,
  resultTextOf,
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

function answerOf({ runId, messages }: ShownRun): readonly AgUiMessage[] {
  const parts = messages.flatMap((message) => ("parts" in message ? message.parts : []));
  return parts.flatMap((part, at) => toMessages(runId, at, part));
}

function toMessages(runId: RunId, at: number, part: ShownPart): readonly AgUiMessage[] {
  if (part.type !== "tool-call") {
    const role = part.type === "text" ? "assistant" : "reasoning";
    return [{ id: messageIdOf(runId, at), role, content: part.text }];
  }
  const { toolName: name, args = {}, result } = part;
  const id = callIdOf(runId, part.toolCallId);
  const call = { id, type: "function", function: { name, arguments: JSON.stringify(args) } };
  const answer = result && {
    id: resultIdOf(id),
    role: "tool",
    toolCallId: id,
    content: resultTextOf(result),
  };
  return [{ id, role: "assistant", toolCalls: [call] }, ...(answer ? [answer] : [])];
}

import { viewerOf } from "../../protocol/identity/viewer.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
import { hashOf } from "../../protocol/json/canonical-hash.ts";
import type { ChatMessage } from "../../protocol/run/chat-request.ts";
import type { RunRequest } from "../../protocol/run/request.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";
import { refuseRun } from "../runs/refuse-run.ts";

/** Longest steering message, in UTF-16 code units. */
export const MAX_MESSAGE_CHARS = 32_768;

/** Names a message to a run. The actor is part of it, because two people may choose the same id. */
export async function keyOfAside(
  { principal }: AuthorisedRequest,
  { aside, body }: RunRequest,
  hash: string,
): Promise<string | undefined> {
  if (aside?.name === undefined || textOf(body.messages) === undefined) return undefined;
  return hashOf([principal.actorId, aside.name, hash]);
}

/**
 * Sends the words of a post to the run before it, which goes on or waits, and answers what the run
 * does then. A call that waits for an approval is withdrawn by them. Files wait for the end of the
 * run. Contract: a repeated post is one message.
 */
export async function sayAside(
  { principal, services }: AuthorisedRequest,
  { aside, body }: RunRequest,
  { runId, key }: { readonly runId: RunId; readonly key: string | undefined },
): Promise<Response> {
  const text = textOf(body.messages);
  if (!aside || text === undefined) return refuseBusy();
  const { messageId } = body;
  const answer = await services.runs.of(runId).steer(viewerOf(principal), {
    text,
    ...(key !== undefined && { requestKey: key }),
    ...(aside.isHeld && messageId !== undefined && { messageId }),
  });
  switch (answer.kind) {
    case "taken":
      return aside.follow(runId, answer.at);
    case "full":
      return problem("too_many_messages", { headers: { "retry-after": "1" } });
    // The conversation learns of the end in a moment.
    case "ended":
      return refuseBusy();
    case "key_reused":
      return problem("request_key_reused");
    case "unknown":
    case "gone":
      return refuseRun(answer);
  }
}

/** The turn before has not ended. */
export function refuseBusy(): Response {
  return problem("run_still_running", { headers: { "retry-after": "1" } });
}

/** Reads the one message of a person that is text alone; undefined for any other post. */
function textOf(messages: readonly ChatMessage[]): string | undefined {
  const [message] = messages;
  if (messages.length !== 1 || message?.role !== "user") return undefined;
  const { content } = message;
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const text = texts.join("");
  const isTextAlone = texts.length === parts.length && text !== "";
  return isTextAlone && text.length <= MAX_MESSAGE_CHARS ? text : undefined;
}

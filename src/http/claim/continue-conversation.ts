import { checkContinuation } from "../../protocol/conversation/client-history.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
import { viewerOf } from "../../protocol/identity/viewer.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { ChatRequestBody } from "../../protocol/run/chat-request.ts";
import type { RunClaim } from "../../protocol/run/claim.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { joinMessages } from "./message-files.ts";
import { problem } from "../request/problem.ts";
import { replaceHalvesOf } from "../request/read-json.ts";
import { refuseHistory, type SentMessages } from "./read-sent.ts";
import { refuseRun } from "../runs/refuse-run.ts";

/** What a claim holds of a conversation. */
export type Conversation = Pick<RunClaim, "messages" | "files" | "workflowId">;

/**
 * Puts what a client sent behind the conversation that its run continues, if it continues one.
 * Fails: the response to send.
 */
export async function continueConversation(
  authorised: AuthorisedRequest,
  { previousRunId }: ChatRequestBody,
  { maxHistoryBytes, ...added }: SentMessages & { readonly maxHistoryBytes: number },
): Promise<Result<Conversation, Response>> {
  const history = await readHistory(authorised, previousRunId, maxHistoryBytes);
  if (!history.ok) return history;
  const { messages: before, workflowId } = history.value;
  const misfit = before.length > 0 && checkContinuation(before, added.sent);
  if (misfit) return fail(refuseHistory(misfit));
  const joined = await joinMessages(authorised, before, added);
  return joined.ok && workflowId ? ok({ ...joined.value, workflowId }) : joined;
}

/** The messages of the earlier runs, and the first run of their chain. */
interface History {
  readonly messages: readonly TranscriptMessage[];
  readonly workflowId?: RunId;
}

/**
 * Reads the transcript that the server recorded. History that the client sends never replaces it.
 */
async function readHistory(
  { principal, services }: AuthorisedRequest,
  previousRunId: string | undefined,
  maxBytes: number,
): Promise<Result<History, Response>> {
  if (previousRunId === undefined) return ok({ messages: [] });
  const runId = await services.runIds.verifyFor(previousRunId, viewerOf(principal));
  if (!runId) return fail(problem("run_not_found"));
  const answer = await services.runs.of(runId).transcript(viewerOf(principal), maxBytes);
  switch (answer.kind) {
    case "transcript":
      return ok({ ...answer, messages: replaceHalvesOf(answer.messages) });
    case "running":
      return fail(problem("run_still_running", { headers: { "retry-after": "1" } }));
    case "too_long":
      return fail(problem("conversation_too_long", { detail: tellLimit(maxBytes) }));
    case "unknown":
    case "gone":
      return fail(refuseRun(answer));
  }
}

function tellLimit(maxBytes: number): string {
  return `A run may continue a conversation of at most ${maxBytes} bytes (budgets.maxHistoryBytes).`;
}

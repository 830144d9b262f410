import type { OpenedTurn, TurnAnswer } from "../../capabilities/conversation.ts";
import { keptFilesOf } from "../../protocol/conversation/kept-files.ts";
import { MAX_CONVERSATION_FILE_BYTES } from "../../protocol/conversation/sent-file.ts";
import { ROOT } from "../../protocol/conversation/turn.ts";
import { ownerOf, viewerOf } from "../../protocol/identity/viewer.ts";
import { hashOf } from "../../protocol/json/canonical-hash.ts";
import type { JsonValue } from "../../protocol/json/value.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { RunClaim } from "../../protocol/run/claim.ts";
import type { RunRequest } from "../../protocol/run/request.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import type { ProblemCode } from "../request/problem-codes.ts";
import { problem } from "../request/problem.ts";
import { placeFiles, refuseFiles } from "./message-files.ts";
import { refuseHistory, type SentMessages } from "./read-sent.ts";

/** What a claim holds of a conversation. A turn that is known has its own run. */
export type Conversation = Pick<
  RunClaim,
  "messages" | "files" | "workflowId" | "history" | "window" | "openedMs" | "requestHash"
> & { readonly runId: RunClaim["runId"] };

/** What a request says, and the longest window of what was said before. */
type Said = SentMessages & { readonly maxHistoryBytes: number };

/**
 * Opens the turn that a request adds to a conversation, or begins a conversation. It comes last,
 * because an opened turn waits for its run. Fails: the response to send.
 */
export async function joinConversation(
  authorised: AuthorisedRequest,
  request: RunRequest,
  said: Said,
): Promise<Result<Conversation, Response>> {
  const { body, runId, requestHash } = request;
  const { conversationId, previousRunId, parentId, messageId } = body;
  if (conversationId === undefined && parentId === ROOT) return fail(refuseRoot());
  if ((conversationId ?? parentId ?? previousRunId) === undefined) {
    const first = { runId, conversationId: runId, kept: [] };
    const begun = { runId, ...placeFiles(said, first), ...(requestHash && { requestHash }) };
    return isTooLarge(said) ? fail(refuseFiles()) : ok(begun);
  }
  const hash = await hashOf(body.messages as JsonValue);
  const opened = await openTurn(authorised, request, { ...said, hash });
  if (!opened.ok) return opened;
  const { history, window, openedMs, ...turn } = opened.value;
  const ownHash = requestHash ?? (messageId === undefined ? undefined : hash);
  return ok({
    ...placeFiles(said, turn),
    runId: turn.runId,
    workflowId: turn.conversationId,
    openedMs,
    window,
    ...(history && { history }),
    ...(ownHash !== undefined && { requestHash: ownHash }),
  });
}

/** Opens a turn in the conversation that a request names, or in that of the run that it names. */
async function openTurn(
  { principal, services }: AuthorisedRequest,
  { runId, body }: RunRequest,
  { sent, maxHistoryBytes, hash }: Said & { readonly hash: string },
): Promise<Result<OpenedTurn, Response>> {
  const viewer = viewerOf(principal);
  const { conversationId, previousRunId: headId, parentId, messageId, regenerate } = body;
  const unknown = conversationId === undefined ? "run_not_found" : "conversation_not_found";
  const known = conversationId ?? parentId ?? headId ?? "";
  const named = await services.runIds.verifyFor(known, viewer);
  if (!named) return fail(problem(unknown));
  const turn = {
    runId,
    owner: ownerOf(principal),
    hash,
    sent,
    maxHistoryBytes,
    ...(headId !== undefined && { headId }),
    ...(parentId !== undefined && { parentId }),
    ...(messageId !== undefined && { messageId }),
    ...(regenerate && { isAgain: regenerate }),
  };
  let answer = await services.runs.of(named).openTurn(viewer, turn);
  if (answer.kind === "elsewhere" && conversationId === undefined) {
    answer = await services.runs.of(answer.conversationId).openTurn(viewer, turn);
  }
  return answer.kind === "turn"
    ? ok(answer)
    : fail(refuseTurn(answer, { unknown, maxHistoryBytes }));
}

function refuseTurn(
  answer: Exclude<TurnAnswer, { kind: "turn" }>,
  { unknown, maxHistoryBytes }: { readonly unknown: ProblemCode; readonly maxHistoryBytes: number },
): Response {
  switch (answer.kind) {
    case "unknown":
    case "elsewhere":
      return problem(unknown);
    case "busy":
      return problem("run_still_running", { headers: { "retry-after": "1" } });
    case "moved":
      return problem("conversation_moved", { headId: answer.headId });
    case "unknown_parent":
      return problem("turn_not_found");
    case "too_long": {
      const detail = `A turn may continue one of at most ${maxHistoryBytes} bytes (budgets.maxHistoryBytes).`;
      return problem("conversation_too_long", { detail });
    }
    case "files_too_large":
      return refuseFiles();
    case "too_many_turns":
      return problem("too_many_turns");
    case "misfit":
      return refuseHistory(answer.failure);
    case "gone":
      return problem("run_expired");
    case "erased":
      return problem("conversation_erased");
  }
}

function refuseRoot(): Response {
  const message = "root needs a conversationId";
  return problem("invalid_request", { errors: [{ pointer: "/parentId", message }] });
}

function isTooLarge({ sent }: SentMessages): boolean {
  const sizes = [...keptFilesOf(sent).values()].map(({ bytes }) => bytes);
  return sizes.reduce((sum, bytes) => sum + bytes, 0) > MAX_CONVERSATION_FILE_BYTES;
}

import type { TurnAnswer, TurnRequest } from "../../capabilities/conversation.ts";
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
import { problem } from "../request/problem.ts";
import { placeFiles, refuseFiles } from "./message-files.ts";
import { refuseHistory, type SentMessages } from "./read-sent.ts";
import { keyOfAside, sayAside } from "./say-aside.ts";

/** What a claim holds of a conversation. A turn that is known has its own run. */
export type Conversation = Pick<
  RunClaim,
  | "messages"
  | "files"
  | "workflowId"
  | "firstPost"
  | "history"
  | "window"
  | "summarise"
  | "openedMs"
  | "requestHash"
> & { readonly runId: RunClaim["runId"] };

/** How a repetition of a post is known. */
interface KnownPost {
  readonly hash: string;
  readonly saidKey: string | undefined;
}

/** What a request says, and what the model is shown of what was said before. */
type Said = SentMessages & Pick<TurnRequest, "maxHistoryBytes" | "historyRule">;

/**
 * Opens the turn that a request adds to a conversation, or begins a conversation. It comes last,
 * because an opened turn waits for its run. Fails: the response to send.
 */
export async function joinConversation(
  authorised: AuthorisedRequest,
  request: RunRequest,
  said: Said,
): Promise<Result<Conversation, Response>> {
  const { body, runId, requestHash, chat } = request;
  const { conversationId, previousRunId, parentId, messageId } = body;
  const misnamed = refuseNames(request);
  if (misnamed) return fail(misnamed);
  const at = parentId ?? previousRunId;
  if ((chat ?? conversationId ?? at) === undefined) return begin(said, { runId, requestHash });
  const hash = await hashOf(body.messages as JsonValue);
  const saidKey = await keyOfAside(authorised, request, hash);
  const answer = await openTurn(authorised, request, { ...said, hash, saidKey });
  if (answer.kind === "busy") {
    return fail(await sayAside(authorised, request, { runId: answer.runId, key: saidKey }));
  }
  if (chat && at === undefined && answer.kind === "unknown") {
    const keyRunId = requestHash !== undefined && { keyRunId: runId };
    const ownHash = requestHash ?? (messageId === undefined ? undefined : hash);
    const firstPost = { hash, ...(messageId !== undefined && { messageId }), ...keyRunId };
    return begin(said, { runId: chat, requestHash: ownHash, firstPost });
  }
  if (answer.kind !== "turn") return fail(refuseTurn(answer, request, said));
  const { history, window, summarise, openedMs, ...turn } = answer;
  return ok({
    ...placeFiles(said, turn),
    runId: turn.runId,
    workflowId: turn.conversationId,
    openedMs,
    window,
    ...(history && { history }),
    ...(summarise && { summarise }),
    ...(requestHash !== undefined && { requestHash }),
  });
}

/** Begins a conversation. */
function begin(
  said: Said,
  {
    runId,
    requestHash,
    firstPost,
  }: Pick<Conversation, "runId" | "firstPost"> & { readonly requestHash: string | undefined },
): Result<Conversation, Response> {
  if (isTooLarge(said)) return fail(refuseFiles());
  return ok({
    runId,
    ...placeFiles(said, { runId, conversationId: runId, kept: [] }),
    ...(requestHash !== undefined && { requestHash }),
    ...(firstPost && { firstPost }),
  });
}

/** Opens a turn in the conversation that a request names, or in that of the run that it names. */
async function openTurn(
  { principal, services }: AuthorisedRequest,
  { runId, body, chat, isResults }: RunRequest,
  { sent, maxHistoryBytes, historyRule, hash, saidKey }: Said & KnownPost,
): Promise<TurnAnswer> {
  const viewer = viewerOf(principal);
  const { previousRunId: headId, parentId, messageId, regenerate } = body;
  const conversationId = chat ?? body.conversationId;
  const known = conversationId ?? parentId ?? headId ?? "";
  const named = await services.runIds.verifyFor(known, viewer);
  if (!named) return { kind: "unknown" };
  const turn = {
    runId,
    owner: ownerOf(principal),
    hash,
    sent,
    maxHistoryBytes,
    historyRule,
    ...(headId !== undefined && { headId }),
    ...(parentId !== undefined && { parentId }),
    ...(messageId !== undefined && { messageId }),
    ...(regenerate && { isAgain: regenerate }),
    ...(isResults && { isOnce: isResults }),
    ...(saidKey !== undefined && { saidKey }),
  };
  const answer = await services.runs.of(named).openTurn(viewer, turn);
  return answer.kind === "elsewhere" && conversationId === undefined
    ? services.runs.of(answer.conversationId).openTurn(viewer, turn)
    : answer;
}

function refuseTurn(
  answer: Exclude<TurnAnswer, { kind: "turn" | "busy" }>,
  { body, chat }: RunRequest,
  { maxHistoryBytes }: Said,
): Response {
  switch (answer.kind) {
    case "unknown":
    case "elsewhere": {
      const isNamed = (chat ?? body.conversationId) !== undefined;
      return problem(isNamed ? "conversation_not_found" : "run_not_found");
    }
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
    case "answered":
      return problem("client_call_answered");
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

/** Refuses a request that names its conversation twice, or a root of none. */
function refuseNames({ body, chat }: RunRequest): Response | undefined {
  const { conversationId, parentId } = body;
  if (chat && conversationId !== undefined) {
    return refuseField("/chatId", "chatId or conversationId");
  }
  const isNamed = (chat ?? conversationId) !== undefined;
  return parentId === ROOT && !isNamed
    ? refuseField("/parentId", "root needs a conversationId")
    : undefined;
}

function refuseField(pointer: string, message: string): Response {
  return problem("invalid_request", { errors: [{ pointer, message }] });
}

function isTooLarge({ sent }: SentMessages): boolean {
  const sizes = [...keptFilesOf(sent).values()].map(({ bytes }) => bytes);
  return sizes.reduce((sum, bytes) => sum + bytes, 0) > MAX_CONVERSATION_FILE_BYTES;
}

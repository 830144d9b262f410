import * as v from "valibot";
import type { RunId } from "../../protocol/identity/ids.ts";
import { ownerOf, viewerOf } from "../../protocol/identity/viewer.ts";
import { hashOf } from "../../protocol/json/canonical-hash.ts";
import type { JsonValue } from "../../protocol/json/value.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { RunRequest } from "../../protocol/run/request.ts";
import type { RunStatus } from "../../protocol/run/state.ts";
import { chatRequestBody } from "../../protocol/run/chat-request.ts";
import { formatExpectation } from "../../protocol/text/format-expectation.ts";
import { uiMessageWire } from "../../wire/ui-message/wire.ts";
import { decide, refuseDecision } from "../approvals/approvals.ts";
import { maxBodyBytes } from "../claim/message-files.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";
import { readSizedJson, refuseShape, replaceHalvesOf } from "../request/read-json.ts";
import { startRun } from "../runs/chat.ts";
import { findRun } from "../runs/request-key.ts";
import { followRun } from "../runs/runs.ts";
import { clientWithRoutes, type Client } from "./client.ts";
import { decisionsOf, requestOf, uiPost, type UiDecisions, type UiPost } from "./ui-post.ts";

/** The UI message stream of the AI SDK, for `useChat` and what is built on it. */
export const uiMessage: Client = clientWithRoutes(uiMessageWire, {
  "/api/chat": { POST: { scope: "chat", handle: postUiChat } },
  "/api/chat/:id/stream": { GET: { scope: "runs:read", handle: getUiStream } },
  "/api/chat/:id/stop": { POST: { scope: "chat", handle: postUiStop } },
});

/**
 * `POST /api/chat`: what a `useChat` client posts. Of the posted history only the newest words of
 * the person count, or their decisions; everything else is read from what was recorded.
 * Threat: a client makes up answers, results and approvals in the history that it posts.
 */
async function postUiChat(authorised: AuthorisedRequest): Promise<Response> {
  const { request, services } = authorised;
  const maxBytes = maxBodyBytes(services.models);
  const read = await readSizedJson(request, uiPost, { maxBytes });
  if (!read.ok) return read.failure;
  const { value: post, bytes: bodyBytes } = read.value;
  const decisions = decisionsOf(post);
  if (decisions) return answerDecisions(authorised, decisions);
  const asked = await readRequest(authorised, post);
  return asked.ok
    ? startRun(authorised, { ...asked.value, bodyBytes }, uiMessageWire)
    : asked.failure;
}

/**
 * The client's name of a chat stands for the run that begins it, so two first posts meet. A line
 * break is part of no `Idempotency-Key`.
 */
function firstRunOf(
  asking: Pick<AuthorisedRequest, "principal" | "services">,
  chat: string,
): Promise<RunId> {
  return findRun(asking, `chat\n${chat}`);
}

async function readRequest(
  authorised: AuthorisedRequest,
  post: UiPost,
): Promise<Result<Omit<RunRequest, "bodyBytes">, Response>> {
  const { principal, services } = authorised;
  const first = await firstRunOf(authorised, post.id);
  const config = { abortEarly: true, message: formatExpectation };
  const parsed = v.safeParse(chatRequestBody, requestOf(post, first), config);
  if (!parsed.success) return fail(refuseShape(parsed.issues));
  const body = replaceHalvesOf(parsed.output);
  if (body.conversationId !== undefined) {
    return ok({ runId: await services.runIds.mint(ownerOf(principal)), body });
  }
  const requestHash = await hashOf(body as JsonValue);
  return ok({ runId: first, requestHash, isOfChat: true, body });
}

/**
 * Records decisions, and answers with what the run does then. A decision that came too late changes
 * nothing: the stream says what counted.
 */
async function answerDecisions(
  authorised: AuthorisedRequest,
  { runId: named, decisions, after }: UiDecisions,
): Promise<Response> {
  const { principal, services } = authorised;
  if (decisions.length === 0 || !after) return problem("nothing_to_decide");
  if (!principal.scopes.includes("approvals:decide")) {
    const detail = "Use a token with scope approvals:decide.";
    return problem("insufficient_scope", { detail });
  }
  const runId = await services.runIds.verifyFor(named, viewerOf(principal));
  if (!runId) return problem("run_not_found");
  for (const { approvalId, ...decision } of decisions) {
    const answer = await decide(authorised, approvalId, decision);
    if (answer.kind !== "decided" && answer.kind !== "closed") return refuseDecision(answer);
  }
  return followRun(authorised, { runId, wire: uiMessageWire, after });
}

/** `GET /api/chat/:id/stream`: the answer in progress from its start; 204 when there is none. */
async function getUiStream(authorised: AuthorisedRequest): Promise<Response> {
  const { request } = authorised;
  if (request.method === "HEAD") {
    return problem("method_not_allowed", { headers: { allow: "GET" } });
  }
  const runId = await findOpenRun(authorised);
  return runId
    ? followRun(authorised, { runId, wire: uiMessageWire, after: undefined })
    : new Response(null, { status: 204 });
}

/**
 * `POST /api/chat/:id/stop`: stops the answer in progress. A client that only disconnects stops
 * nothing.
 */
async function postUiStop(authorised: AuthorisedRequest): Promise<Response> {
  const { principal, services } = authorised;
  const runId = await findOpenRun(authorised);
  if (runId) await services.runs.of(runId).cancel(viewerOf(principal));
  return new Response(null, { status: 204 });
}

/** Finds the newest run of a chat, unless it has ended. */
async function findOpenRun(authorised: AuthorisedRequest): Promise<RunId | undefined> {
  const { principal, services, id } = authorised;
  const viewer = viewerOf(principal);
  const first = await firstRunOf(authorised, id);
  const answer = await services.runs.of(first).conversation(viewer);
  if (answer.kind !== "conversation" || !isOpen(answer.state)) return undefined;
  const { headId } = answer.state;
  // The conversation learns of an end a moment after the run.
  const head = await services.runs.of(headId).state(viewer);
  return head.kind === "run" && isOpen(head.state) ? headId : undefined;
}

function isOpen({ status }: { readonly status: RunStatus }): boolean {
  return status === "running" || status === "waiting";
}

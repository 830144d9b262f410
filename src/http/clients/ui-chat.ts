import { viewerOf } from "../../protocol/identity/viewer.ts";
import { uiMessageWire } from "../../wire/ui-message/wire.ts";
import { maxBodyBytes } from "../claim/message-files.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";
import { readSizedJson } from "../request/read-json.ts";
import { startRun } from "../runs/chat.ts";
import { followRun } from "../runs/runs.ts";
import { clientWithRoutes, type Client } from "./client.ts";
import { findOpenRun, firstRunOf, requestInChat } from "./named-chat.ts";
import { answerDecisions } from "./posted-decisions.ts";
import { decisionsOf, requestOf, uiPost } from "./ui-post.ts";

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
  if (decisions) return answerDecisions(authorised, decisions, uiMessageWire);
  const first = await firstRunOf(authorised, post.id);
  const asked = await requestInChat(authorised, first, requestOf(post, first));
  return asked.ok
    ? startRun(authorised, { ...asked.value, bodyBytes }, uiMessageWire)
    : asked.failure;
}

/** `GET /api/chat/:id/stream`: the answer in progress from its start; 204 when there is none. */
async function getUiStream(authorised: AuthorisedRequest): Promise<Response> {
  const { request, id } = authorised;
  if (request.method === "HEAD") {
    return problem("method_not_allowed", { headers: { allow: "GET" } });
  }
  const runId = await findOpenRun(authorised, id);
  return runId
    ? followRun(authorised, { runId, wire: uiMessageWire, after: undefined })
    : new Response(null, { status: 204 });
}

/**
 * `POST /api/chat/:id/stop`: stops the answer in progress. A client that only disconnects stops
 * nothing.
 */
async function postUiStop(authorised: AuthorisedRequest): Promise<Response> {
  const { principal, services, id } = authorised;
  const runId = await findOpenRun(authorised, id);
  if (runId) await services.runs.of(runId).cancel(viewerOf(principal));
  return new Response(null, { status: 204 });
}

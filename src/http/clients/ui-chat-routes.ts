import { viewerOf } from "../../protocol/identity/viewer.ts";
import type { ClientWire } from "../../protocol/run/client-wire.ts";
import type { Aside } from "../../protocol/run/request.ts";
import { maxBodyBytes } from "../claim/message-files.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";
import { readSizedJson } from "../request/read-json.ts";
import { startRun } from "../runs/chat.ts";
import { followRun } from "../runs/runs.ts";
import { findOpenRun, firstRunOf, requestInChat } from "./named-chat.ts";
import { answerDecisions } from "./posted-decisions.ts";
import { followMessage } from "./ui-message-start.ts";
import { decisionsOf, newWordsOf, requestOf, uiPost } from "./ui-post.ts";

/** The addresses of a `useChat` client whose `api` is `path`. */
export function routesOfUiChat(path: string, wire: ClientWire): Routes {
  return {
    [path]: { POST: { scope: "chat", handle: (asked) => postUiChat(asked, wire) } },
    [`${path}/:id/stream`]: {
      GET: { scope: "runs:read", handle: (asked) => getUiStream(asked, wire) },
    },
    [`${path}/:id/stop`]: { POST: { scope: "chat", handle: postUiStop } },
  };
}

/**
 * `POST /api/chat`: what a `useChat` client posts. Of the posted history only the newest words of
 * the person count, or their decisions; everything else is read from what was recorded.
 * Threat: a client makes up answers, results and approvals in the history that it posts.
 */
async function postUiChat(authorised: AuthorisedRequest, wire: ClientWire): Promise<Response> {
  const { request, services } = authorised;
  const maxBytes = maxBodyBytes(services.models);
  const read = await readSizedJson(request, uiPost, { maxBytes });
  if (!read.ok) return read.failure;
  const { value: post, bytes: bodyBytes } = read.value;
  const decisions = decisionsOf(post);
  if (decisions) return answerDecisions(authorised, decisions, wire);
  const first = await firstRunOf(authorised, post.id);
  const asked = await requestInChat(authorised, first, requestOf(post, first));
  if (!asked.ok) return asked.failure;
  const name = newWordsOf(post);
  const aside = name !== undefined && { aside: asideOf(authorised, { name, wire }) };
  return startRun(authorised, { ...asked.value, ...aside, bodyBytes }, wire);
}

/** New words while a run goes on are answered by a message of their own. */
function asideOf(
  authorised: AuthorisedRequest,
  { name, wire }: { readonly name: string; readonly wire: ClientWire },
): Aside {
  return {
    name,
    isHeld: true,
    follow: (runId, at) => followMessage(authorised, { runId, at, wire }),
  };
}

/** `GET /api/chat/:id/stream`: the answer in progress from its start; 204 when there is none. */
async function getUiStream(authorised: AuthorisedRequest, wire: ClientWire): Promise<Response> {
  const { request, id } = authorised;
  if (request.method === "HEAD") {
    return problem("method_not_allowed", { headers: { allow: "GET" } });
  }
  const open = await findOpenRun(authorised, id);
  if (!open) return new Response(null, { status: 204 });
  const { runId, steeredAt: at } = open;
  return at
    ? followMessage(authorised, { runId, at, wire })
    : followRun(authorised, { runId, wire, after: undefined });
}

/**
 * `POST /api/chat/:id/stop`: stops the answer in progress. A client that only disconnects stops
 * nothing.
 */
async function postUiStop(authorised: AuthorisedRequest): Promise<Response> {
  const { principal, services, id } = authorised;
  const open = await findOpenRun(authorised, id);
  if (open) await services.runs.of(open.runId).cancel(viewerOf(principal));
  return new Response(null, { status: 204 });
}

import * as v from "valibot";
import type {
  ConversationAnswer,
  ConversationMethods,
  ListedTurn,
  NoConversation,
} from "../../capabilities/conversation.ts";
import type { RunMethods } from "../../capabilities/run.ts";
import type { ShownTurn } from "../../protocol/conversation/shown.ts";
import { viewerOf, type Viewer } from "../../protocol/identity/viewer.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { nextCursor, parameters, readCursor, readQuery } from "../request/list-query.ts";
import { problem } from "../request/problem.ts";
import {
  EXPORT_FORMS,
  exportFormat,
  streamExport,
  type ExportPage,
} from "./conversation-export.ts";
import { readJson, replaceHalvesOf } from "../request/read-json.ts";
import type { Services } from "../services.ts";

/** Reads one conversation, and names it. */
export const CONVERSATION_ROUTES: Routes = {
  "/v1/conversations/:id": {
    GET: { scope: "runs:read", handle: getConversation },
    PATCH: { scope: "chat", handle: patchConversation },
    DELETE: { scope: "chat", handle: deleteConversation },
  },
  "/v1/conversations/:id/messages": { GET: { scope: "runs:read", handle: getMessages } },
  "/v1/conversations/:id/export": { GET: { scope: "runs:read", handle: getExport } },
};

type ConversationObject = ConversationMethods & RunMethods;

/** Finds the object of a conversation. Another's id wakes no object, as an invented one. */
export async function findConversation({
  principal,
  services,
  id,
}: AuthorisedRequest): Promise<ConversationObject | undefined> {
  const runId = await services.runIds.verifyFor(id, viewerOf(principal));
  return runId && services.runs.of(runId);
}

/** `GET /v1/conversations/:id`: the conversation in one look. */
async function getConversation(authorised: AuthorisedRequest): Promise<Response> {
  const found = await findConversation(authorised);
  const viewer = viewerOf(authorised.principal);
  return answerState(authorised, found ? await found.conversation(viewer) : UNKNOWN);
}

const MAX_TITLE_CHARS = 120;
export const titleBody = v.strictObject({
  title: v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(MAX_TITLE_CHARS)),
});

/** `PATCH /v1/conversations/:id`: gives the conversation a title. */
async function patchConversation(authorised: AuthorisedRequest): Promise<Response> {
  const body = await readJson(authorised.request, titleBody);
  if (!body.ok) return body.failure;
  const found = await findConversation(authorised);
  const { title } = replaceHalvesOf(body.value);
  const viewer = viewerOf(authorised.principal);
  return answerState(authorised, found ? await found.rename(viewer, title) : UNKNOWN);
}

/**
 * `DELETE /v1/conversations/:id`: deletes the conversation with its runs; 202 while a run still
 * delivers something.
 */
async function deleteConversation(authorised: AuthorisedRequest): Promise<Response> {
  const erase = async () => {
    const found = await findConversation(authorised);
    return found ? found.eraseConversation(viewerOf(authorised.principal)) : UNKNOWN;
  };
  // A deletion may be repeated at every step: where its object ended, the next one goes on.
  const answer = await erase()
    .catch(erase)
    .catch(() => undefined);
  if (!answer) return problem("deletion_interrupted", { headers: { "retry-after": "1" } });
  if (answer.kind === "busy") return problem("conversation_busy", { runs: answer.runs });
  if (answer.kind !== "erasing") return refuse(answer);
  const { turnsLeft } = answer;
  return Response.json(
    { conversationId: authorised.id, turnsLeft, kept: ["audit"] },
    { status: turnsLeft > 0 ? 202 : 200 },
  );
}

/** The run of a turn that has not ended knows best how the turn stands. */
async function answerState(
  { principal, services }: AuthorisedRequest,
  answer: ConversationAnswer,
): Promise<Response> {
  if (answer.kind !== "conversation") return refuse(answer);
  const { state } = answer;
  if (state.status !== "running") return Response.json(state);
  const head = await services.runs.of(state.headId).state(viewerOf(principal));
  return Response.json(head.kind === "run" ? { ...state, status: head.state.status } : state);
}

export const query = v.strictObject({ limit: parameters.limit, cursor: parameters.cursor });

/** `GET /v1/conversations/:id/messages`: turns as the person may see them, the newest first. */
async function getMessages(authorised: AuthorisedRequest): Promise<Response> {
  const { request, principal, services, id } = authorised;
  const read = readQuery(request, query);
  if (!read.ok) return read.failure;
  const viewer = viewerOf(principal);
  const { origin = null, assistantId = null, person, actor } = viewer;
  const scope = ["turns", principal.tenantId, id, person, actor, origin, assistantId];
  const after = await readCursor<number>(authorised, read.value.cursor, scope);
  if (!after.ok) return after.failure;
  const found = await findConversation(authorised);
  const { limit } = read.value;
  const number = after.value !== undefined && { after: after.value };
  const answer = found ? await found.turns(viewer, { limit, ...number }) : UNKNOWN;
  if (answer.kind !== "turns") return refuse(answer);
  const shown = await Promise.all(
    answer.page.items.map((turn) => showTurn(services, viewer, turn)),
  );
  const turns = shown.filter((turn) => turn !== undefined);
  return Response.json({ turns, ...(await nextCursor(authorised, answer.page, scope)) });
}

export const exportQuery = v.strictObject({ format: exportFormat });
/** Turns that one read takes. */
const EXPORT_PAGE = 25;

/** `GET /v1/conversations/:id/export`: the whole conversation as a file, the oldest turn first. */
async function getExport(authorised: AuthorisedRequest): Promise<Response> {
  const read = readQuery(authorised.request, exportQuery);
  if (!read.ok) return read.failure;
  const { principal, services } = authorised;
  const found = await findConversation(authorised);
  const viewer = viewerOf(principal);
  const answer = found ? await found.conversation(viewer) : UNKNOWN;
  if (answer.kind !== "conversation") return refuse(answer);
  const form = EXPORT_FORMS[read.value.format];
  const readPage = async (after: number | undefined): Promise<ExportPage> => {
    const query = { limit: EXPORT_PAGE, isOldestFirst: true };
    const turns = await found?.turns(viewer, after === undefined ? query : { ...query, after });
    if (turns?.kind !== "turns") throw new Error("the conversation was deleted during the export");
    const shown = await Promise.all(
      turns.page.items.map((turn) => showTurn(services, viewer, turn)),
    );
    return { turns: shown.filter((turn) => turn !== undefined), next: turns.page.next };
  };
  return new Response(streamExport(form, answer.state, readPage), {
    headers: {
      "content-type": form.contentType,
      "content-disposition": `attachment; filename="${answer.state.conversationId}.${form.extension}"`,
    },
  });
}

/** Asks the run of an open turn; nothing is known of a turn that no run has claimed yet. */
export async function showTurn(
  services: Services,
  viewer: Viewer,
  turn: ListedTurn,
): Promise<ShownTurn | undefined> {
  if (!("isOpen" in turn)) return turn;
  const { isOpen: _isOpen, ...place } = turn;
  const answer = await services.runs.of(turn.runId).shown(viewer);
  return answer.kind === "shown" ? { ...answer.run, ...place } : undefined;
}

const UNKNOWN: NoConversation = { kind: "unknown" };

/** Says why there is no such conversation. */
export function refuse({ kind }: NoConversation): Response {
  if (kind === "erased") return problem("conversation_erased");
  return problem(kind === "gone" ? "run_expired" : "conversation_not_found");
}

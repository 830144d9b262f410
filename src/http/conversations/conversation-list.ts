import * as v from "valibot";
import { isDelegate, personOf } from "../../protocol/identity/principal.ts";
import { viewerOf } from "../../protocol/identity/viewer.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { answerPage, parameters, readQuery } from "../request/list-query.ts";

/** Lists conversations. */
export const CONVERSATION_LIST_ROUTES: Routes = {
  "/v1/conversations": { GET: { scope: "runs:read", handle: getConversations } },
};

export const query = v.strictObject({
  title: parameters.text,
  assistant: parameters.text,
  limit: parameters.limit,
  cursor: parameters.cursor,
});

/** `GET /v1/conversations`: the caller's own, newest first; a page's those of its kind. */
async function getConversations(authorised: AuthorisedRequest): Promise<Response> {
  const { request, principal, services } = authorised;
  const read = readQuery(request, query);
  if (!read.ok) return read.failure;
  const { origin, assistantId } = viewerOf(principal);
  const viewer = {
    person: personOf(principal),
    actor: principal.actorId,
    isDelegate: isDelegate(principal),
    ...(origin !== undefined && assistantId !== undefined && { page: { origin, assistantId } }),
  };
  return answerPage(authorised, {
    name: "conversations",
    query: read.value,
    sees: viewer,
    list: (tenantId, { assistant, ...filters }) =>
      services.conversations.list(tenantId, { ...filters, ...viewer, assistantId: assistant }),
  });
}

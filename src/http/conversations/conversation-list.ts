import * as v from "valibot";
import { isDelegate, personOf } from "../../protocol/identity/principal.ts";
import { viewerOf } from "../../protocol/identity/viewer.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { nextCursor, parameters, readCursor, readQuery } from "../request/list-query.ts";

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
  const { title, assistant, limit, cursor } = read.value;
  const { tenantId, actorId } = principal;
  const { origin, assistantId } = viewerOf(principal);
  const page = origin !== undefined && assistantId !== undefined && { origin, assistantId };
  const whose = [personOf(principal), actorId, origin ?? null, assistantId ?? null];
  const scope = ["conversations", tenantId, ...whose, title ?? null, assistant ?? null];
  const after = await readCursor(authorised, cursor, scope);
  if (!after.ok) return after.failure;
  const slice = await services.conversations.list(tenantId, {
    person: personOf(principal),
    actor: actorId,
    isDelegate: isDelegate(principal),
    ...(page && { page }),
    ...(title !== undefined && { title }),
    ...(assistant !== undefined && { assistantId: assistant }),
    limit,
    ...(after.value && { after: after.value }),
  });
  const next = await nextCursor(authorised, slice, scope);
  return Response.json({ conversations: slice.items, ...next });
}

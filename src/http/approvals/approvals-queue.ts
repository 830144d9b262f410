import * as v from "valibot";
import { APPROVAL_PATTERNS } from "../../protocol/approval/requirement.ts";
import { APPROVAL_STATUSES } from "../../protocol/approval/record.ts";
import { actsInOwnName } from "../../protocol/approval/check-vote.ts";
import { isDelegate, personOf, seesAll } from "../../protocol/identity/principal.ts";
import { nextCursor, parameters, readCursor, readQuery } from "../request/list-query.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";

/** Lists approvals. A list shows more than the runs of one page, so embed tokens cannot read it. */
export const APPROVAL_QUEUE_ROUTES: Routes = {
  "/v1/approvals": {
    GET: { scope: "approvals:read", refusesEmbedTokens: true, handle: getApprovals },
  },
};

export const query = v.strictObject({
  status: v.optional(v.picklist(APPROVAL_STATUSES), "pending"),
  pattern: v.optional(v.picklist(APPROVAL_PATTERNS)),
  tool: parameters.text,
  mine: parameters.flag,
  decidable: parameters.flag,
  sort: v.optional(v.picklist(["expiry", "newest"]), "expiry"),
  limit: parameters.limit,
  cursor: parameters.cursor,
});

/** `GET /v1/approvals`: lists the approvals that the caller may see. */
async function getApprovals(authorised: AuthorisedRequest): Promise<Response> {
  const { request, principal, services } = authorised;
  const read = readQuery(request, query);
  if (!read.ok) return read.failure;
  const { status, pattern, tool, mine, decidable, sort, limit, cursor } = read.value;
  const { tenantId, roles } = principal;
  const viewer = {
    person: personOf(principal),
    roles,
    decides: actsInOwnName(principal),
    seesAll: seesAll(principal),
    ...(isDelegate(principal) && { delegate: principal.actorId }),
  };
  const filters = [status, pattern ?? null, tool ?? null, mine, decidable, sort];
  const sees = [JSON.stringify(viewer)];
  const scope = ["approvals", tenantId, ...sees, ...filters];
  const after = await readCursor(authorised, cursor, scope);
  if (!after.ok) return after.failure;
  const slice = await services.queue.list(tenantId, {
    viewer,
    status,
    ...(pattern && { pattern }),
    ...(tool !== undefined && { tool }),
    isMine: mine,
    isDecidable: decidable,
    sort,
    limit,
    ...(after.value && { after: after.value }),
  });
  return Response.json({ approvals: slice.items, ...(await nextCursor(authorised, slice, scope)) });
}

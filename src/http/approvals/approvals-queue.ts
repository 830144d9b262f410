import * as v from "valibot";
import { APPROVAL_PATTERNS } from "../../protocol/approval/requirement.ts";
import { APPROVAL_STATUSES } from "../../protocol/approval/record.ts";
import { actsInOwnName } from "../../protocol/approval/check-vote.ts";
import { isDelegate, personOf, seesAll } from "../../protocol/identity/principal.ts";
import { about, answerPage, parameters, readQuery } from "../request/list-query.ts";
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
  ...about,
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
  const viewer = {
    person: personOf(principal),
    roles: principal.roles,
    decides: actsInOwnName(principal),
    seesAll: seesAll(principal),
    ...(isDelegate(principal) && { delegate: principal.actorId }),
  };
  return answerPage(authorised, {
    name: "approvals",
    query: read.value,
    sees: viewer,
    list: (tenantId, { mine: isMine, decidable: isDecidable, ...filters }) =>
      services.queue.list(tenantId, { ...filters, viewer, isMine, isDecidable }),
  });
}

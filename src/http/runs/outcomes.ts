import * as v from "valibot";
import { formatArguments, type PacketLine } from "../../protocol/approval/packet-lines.ts";
import type { StateMismatch } from "../../protocol/run/awaited-outcome.ts";
import { nextCursor, parameters, readCursor, readQuery } from "../request/list-query.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";

/** Lists unknown outcomes. The list holds calls of all people, so embed tokens cannot read it. */
export const OUTCOME_ROUTES: Routes = {
  "/v1/outcomes": {
    GET: { scope: "runs:operate", refusesEmbedTokens: true, handle: getOutcomes },
  },
};

export const query = v.strictObject({
  tool: parameters.text,
  limit: parameters.limit,
  cursor: parameters.cursor,
});

/** `GET /v1/outcomes`: lists the calls whose outcome an operator may resolve, urgent ones first. */
async function getOutcomes(authorised: AuthorisedRequest): Promise<Response> {
  const { request, principal, services } = authorised;
  const read = readQuery(request, query);
  if (!read.ok) return read.failure;
  const { tool, limit, cursor } = read.value;
  const scope = ["outcomes", principal.tenantId, tool ?? null];
  const after = await readCursor(authorised, cursor, scope);
  if (!after.ok) return after.failure;
  const page = await services.outcomes.list(principal.tenantId, {
    ...(tool !== undefined && { tool }),
    limit,
    ...(after.value && { after: after.value }),
  });
  const outcomes = page.items.map(({ withheld, mismatch, ...outcome }) => ({
    ...outcome,
    lines: formatArguments({ shown: outcome.arguments, withheld }),
    ...(mismatch && { mismatch: { ...mismatch, lines: formatMismatch(mismatch) } }),
  }));
  return Response.json({ outcomes, ...(await nextCursor(authorised, page, scope)) });
}

/** Formats both states for people. */
function formatMismatch(mismatch: StateMismatch): readonly PacketLine[] {
  const { reference, expectedState, foundState } = mismatch;
  const shown = { target: reference, expected: expectedState, found: foundState };
  return formatArguments({ shown, withheld: [] });
}

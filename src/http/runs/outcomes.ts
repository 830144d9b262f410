import * as v from "valibot";
import { formatArguments, type PacketLine } from "../../protocol/approval/packet-lines.ts";
import type { StateMismatch } from "../../protocol/run/awaited-outcome.ts";
import { about, answerPage, parameters, readQuery } from "../request/list-query.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";

/** Lists unknown outcomes. The list holds calls of all people, so embed tokens cannot read it. */
export const OUTCOME_ROUTES: Routes = {
  "/v1/outcomes": {
    GET: { scope: "runs:operate", refusesEmbedTokens: true, handle: getOutcomes },
  },
};

export const query = v.strictObject({
  ...about,
  limit: parameters.limit,
  cursor: parameters.cursor,
});

/** `GET /v1/outcomes`: lists the calls whose outcome an operator may resolve, urgent ones first. */
async function getOutcomes(authorised: AuthorisedRequest): Promise<Response> {
  const { request, services } = authorised;
  const read = readQuery(request, query);
  if (!read.ok) return read.failure;
  return answerPage(authorised, {
    name: "outcomes",
    query: read.value,
    list: (tenantId, filters) => services.outcomes.list(tenantId, filters),
    show: ({ withheld, mismatch, ...outcome }) => ({
      ...outcome,
      lines: formatArguments({ shown: outcome.arguments, withheld }),
      ...(mismatch && { mismatch: { ...mismatch, lines: formatMismatch(mismatch) } }),
    }),
  });
}

/** Formats both states for people. */
function formatMismatch(mismatch: StateMismatch): readonly PacketLine[] {
  const { reference, expectedState, foundState } = mismatch;
  const shown = { target: reference, expected: expectedState, found: foundState };
  return formatArguments({ shown, withheld: [] });
}

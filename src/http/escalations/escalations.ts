import * as v from "valibot";
import {
  ESCALATION_REASONS,
  ESCALATION_STATES,
  readEscalationId,
  type Escalation,
  type EscalationReason,
} from "../../protocol/escalation/escalation.ts";
import { MAX_ACTOR_CHARS, type ActorId } from "../../protocol/identity/ids.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { about, answerPage, parameters, readQuery } from "../request/list-query.ts";
import { problem } from "../request/problem.ts";
import { readJson } from "../request/read-json.ts";

/** Lists and settles what runs cannot settle. It holds runs of all people: no embed tokens. */
export const ESCALATION_ROUTES: Routes = {
  "/v1/escalations": {
    GET: { scope: "runs:operate", refusesEmbedTokens: true, handle: getEscalations },
  },
  "/v1/escalations/:id": {
    POST: { scope: "runs:operate", refusesEmbedTokens: true, handle: postEscalation },
  },
};

const REASONS = Object.keys(ESCALATION_REASONS) as EscalationReason[];

export const query = v.strictObject({
  state: v.optional(v.picklist(ESCALATION_STATES)),
  reason: v.optional(v.picklist(REASONS)),
  ...about,
  limit: parameters.limit,
  cursor: parameters.cursor,
});

/** `GET /v1/escalations`: lists what people must look at, the oldest first. */
async function getEscalations(authorised: AuthorisedRequest): Promise<Response> {
  const { request, services } = authorised;
  const read = readQuery(request, query);
  if (!read.ok) return read.failure;
  return answerPage(authorised, {
    name: "escalations",
    query: read.value,
    list: (tenantId, filters) => services.escalations.list(tenantId, filters),
    show: withActions,
  });
}

/** Longest note, in UTF-16 code units. */
const MAX_NOTE_CHARS = 1_000;

export const actBody = v.strictObject({
  action: v.picklist(["take", "release", "settle"]),
  from: v.optional(
    v.pipe(
      v.string(),
      v.nonEmpty(),
      v.maxLength(MAX_ACTOR_CHARS),
      v.transform((id) => id as ActorId),
    ),
  ),
  note: v.optional(
    v.pipe(
      v.string(),
      v.nonEmpty(),
      v.maxLength(MAX_NOTE_CHARS),
      v.check((text) => text.isWellFormed(), "text without half characters"),
    ),
  ),
});

/** `POST /v1/escalations/:id`: takes, releases or settles an escalation. */
async function postEscalation(authorised: AuthorisedRequest): Promise<Response> {
  const { request, principal, services, id } = authorised;
  const body = await readJson(request, actBody);
  if (!body.ok) return body.failure;
  const act = { ...body.value, number: readEscalationId(id), by: principal.actorId };
  const answer = await services.escalations.act(principal.tenantId, act);
  switch (answer.kind) {
    case "done":
      return Response.json(withActions(answer.escalation));
    case "unknown":
      return problem("escalation_not_found");
    case "settled":
      return problem("escalation_settled");
    case "needs_report":
      return problem("escalation_needs_report");
    case "held": {
      const { takenBy } = answer;
      const detail = `${takenBy} has taken it. Send "from": "${takenBy}" to take it over.`;
      return problem("escalation_held", { detail });
    }
  }
}

/** Adds what can be done, and where the call is reported about. */
function withActions(escalation: Escalation): object {
  const { reason, state } = escalation;
  if (state === "settled") return { ...escalation, actions: [] };
  const remedy = ESCALATION_REASONS[reason];
  return {
    ...escalation,
    actions: [state === "open" ? "take" : "release", remedy],
    ...(remedy !== "settle" && { href: hrefOf(escalation) }),
  };
}

function hrefOf({ runId, invocationId = "", approvalId }: Escalation): string {
  if (approvalId !== undefined) return `/v1/approvals/${approvalId}`;
  return `/v1/runs/${runId}/invocations/${invocationId}/outcome`;
}

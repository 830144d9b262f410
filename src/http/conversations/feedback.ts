import * as v from "valibot";
import { viewerOf } from "../../protocol/identity/viewer.ts";
import { toIso } from "../../protocol/text/iso-time.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { answerPage, parameters, readQuery } from "../request/list-query.ts";
import { problem } from "../request/problem.ts";
import { readJson, replaceHalvesOf } from "../request/read-json.ts";
import { findConversation, refuse } from "./conversations.ts";

/** Takes feedback for answers, and lists it. */
export const FEEDBACK_ROUTES: Routes = {
  "/v1/conversations/:id/feedback": { PUT: { scope: "chat", handle: putFeedback } },
  "/v1/feedback": { GET: { scope: "runs:operate", refusesEmbedTokens: true, handle: getFeedback } },
};

const MAX_COMMENT_CHARS = 2_000;
const runId = v.pipe(v.string(), v.maxLength(128));
export const feedbackBody = v.variant("rating", [
  v.strictObject({ runId, rating: v.literal("none") }),
  v.strictObject({
    runId,
    rating: v.picklist(["up", "down"]),
    comment: v.optional(v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(MAX_COMMENT_CHARS))),
  }),
]);

/** `PUT /v1/conversations/:id/feedback`: gives feedback for an answer, or takes it back. */
async function putFeedback(authorised: AuthorisedRequest): Promise<Response> {
  const body = await readJson(authorised.request, feedbackBody);
  if (!body.ok) return body.failure;
  const { principal, services } = authorised;
  const { runId: named, ...given } = replaceHalvesOf(body.value);
  const found = await findConversation(authorised);
  const answer = (await found?.giveFeedback(viewerOf(principal), {
    runId: named,
    at: toIso(services.clock.nowMs()),
    feedback: given.rating === "none" ? null : given,
  })) ?? { kind: "unknown" };
  switch (answer.kind) {
    case "given":
      return new Response(null, { status: 204 });
    case "unknown_turn":
      return problem("turn_not_found");
    case "busy":
      return problem("run_still_running", { headers: { "retry-after": "1" } });
    case "unknown":
    case "gone":
    case "erased":
      return refuse(answer);
  }
}

export const query = v.strictObject({
  rating: v.optional(v.picklist(["up", "down"])),
  limit: parameters.limit,
  cursor: parameters.cursor,
});

/** `GET /v1/feedback`: the feedback of all people, the newest first. */
async function getFeedback(authorised: AuthorisedRequest): Promise<Response> {
  const { request, services } = authorised;
  const read = readQuery(request, query);
  if (!read.ok) return read.failure;
  return answerPage(authorised, {
    name: "feedback",
    query: read.value,
    list: (tenantId, filters) => services.feedback(tenantId, filters),
  });
}

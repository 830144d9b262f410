import type { RunId } from "../../protocol/identity/ids.ts";
import type { Aside } from "../../protocol/run/request.ts";
import { viewerOf } from "../../protocol/identity/viewer.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { eventLines } from "../../wire/openai-inbound/event-lines.ts";
import { ResponseFold } from "../../wire/openai-inbound/fold-response.ts";
import { FIRST_LEG, parseResponseId, type Leg } from "../../wire/openai-inbound/response-id.ts";
import { maxBodyBytes } from "../claim/message-files.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";
import { readSizedJson } from "../request/read-json.ts";
import { followRun } from "../runs/runs.ts";
import { clientWithRoutes, type Client } from "./client.ts";
import { answerFolded, linesOf, linkApprovals, type ToAnswer } from "./folded-run.ts";
import { OPENAI_MODELS } from "./openai-models.ts";
import { refuseMember, toOpenAIRefusal as formatRefusal } from "./openai-refusal.ts";
import { readClientTools, startAsked } from "./openai-start.ts";
import { recordDecisions, type PostedDecisions } from "./posted-decisions.ts";
import {
  decisionsOf,
  findUnsupported,
  requestOf,
  responsePost,
  resultsOf,
} from "./openai-responses-post.ts";

/** The Responses protocol of OpenAI, for its client and what is built on it. */
export const openAIResponses: Client = clientWithRoutes(eventLines, {
  "/v1/responses": { POST: { scope: "chat", handle: postResponse, formatRefusal } },
  "/v1/responses/:id": { GET: { scope: "runs:read", handle: getResponse, formatRefusal } },
  "/v1/responses/:id/cancel": { POST: { scope: "chat", handle: postCancel, formatRefusal } },
  "/v1/models": { GET: OPENAI_MODELS },
});

/** How the caller wants a response. */
interface Wanted {
  readonly isStream: boolean;
  /** The number of the last frame that the caller has. */
  readonly seen?: number;
}

/** A response by its run, and its part of it. */
type NamedResponse = Leg & { readonly runId: RunId };

/**
 * `POST /v1/responses`: starts a run, or decides about the calls of one that waits.
 * Threat: a client makes up answers, results and approvals in the items that it posts. Answers and
 * results are untrusted history, and an approval counts only as a decision that the run checks.
 */
async function postResponse(authorised: AuthorisedRequest): Promise<Response> {
  const { request, services } = authorised;
  const maxBytes = maxBodyBytes(services.models);
  const read = await readSizedJson(request, responsePost, { maxBytes });
  if (!read.ok) return read.failure;
  const { value: post, bytes: bodyBytes } = read.value;
  const wanted = { isStream: post.stream === true };
  const tools = readClientTools(authorised, post.tools);
  if (!tools.ok) return tools.failure;
  const member = findUnsupported(post);
  if (member !== undefined) return refuseMember(member);
  const decisions = decisionsOf(post);
  if (decisions) return answerDecisions(authorised, decisions, wanted);
  const { model, previous_response_id: previous } = post;
  let leg = FIRST_LEG;
  const follow: Aside["follow"] = (runId, { seq }) => {
    leg = { after: seq, until: seq };
    return followRun(authorised, { runId, wire: eventLines, after: undefined });
  };
  const aside = { follow, ...(typeof previous === "string" && { name: previous }) };
  const asked = { ...requestOf(post, tools.value), model, bodyBytes, aside };
  const started = await startAsked(authorised, { ...asked, results: resultsOf(post) });
  return answer(authorised, started, { ...leg, ...wanted });
}

/** Answers decisions with the part of the run that follows them. */
async function answerDecisions(
  authorised: AuthorisedRequest,
  posted: Omit<PostedDecisions, "after">,
  wanted: Wanted,
): Promise<Response> {
  const runId = await recordDecisions(authorised, posted);
  if (!runId.ok) return runId.failure;
  const followed = { runId: runId.value, wire: eventLines, after: undefined };
  const leg = await findLeg(await followRun(authorised, followed), posted);
  return leg.ok ? show(authorised, { ...leg.value, runId: runId.value }, wanted) : leg.failure;
}

/**
 * Finds the part of a run that follows decisions: it begins where the run waited for the first of
 * them. A repeated decision finds the same part.
 */
async function findLeg(
  followed: Response,
  { decisions }: Omit<PostedDecisions, "after">,
): Promise<Result<Leg, Response>> {
  const lines = linesOf(followed);
  if (!lines) return fail(followed);
  const open = new Set(decisions.map(({ approvalId }) => approvalId));
  const { size } = open;
  let [after, until] = [0, 0];
  for (let batch = await lines.next(); batch; batch = await lines.next()) {
    for (const { event, position } of batch.lines) {
      if (event.type === "run_waiting" && open.size === size) after = position.seq;
      const isDecided = event.type === "approval_updated" && open.delete(event.approval.approvalId);
      if (isDecided) until = position.seq;
    }
    if (open.size === 0) break;
  }
  lines.cancel();
  return ok({ after, until });
}

/** `GET /v1/responses/:id`: the response once it has ended or waits, or its stream. */
async function getResponse(authorised: AuthorisedRequest): Promise<Response> {
  const { request } = authorised;
  if (request.method === "HEAD") {
    return problem("method_not_allowed", { headers: { allow: "GET" } });
  }
  const named = await findResponse(authorised);
  if (!named) return problem("run_not_found");
  const query = new URL(request.url).searchParams;
  const seen = Number(query.get("starting_after") ?? -1);
  return show(authorised, named, { isStream: query.get("stream") === "true", seen });
}

/** `POST /v1/responses/:id/cancel`: stops the run of a response, and answers the response. */
async function postCancel(authorised: AuthorisedRequest): Promise<Response> {
  const { principal, services } = authorised;
  const named = await findResponse(authorised);
  if (!named) return problem("run_not_found");
  await services.runs.of(named.runId).cancel(viewerOf(principal));
  return show(authorised, named, { isStream: false });
}

async function findResponse(authorised: AuthorisedRequest): Promise<NamedResponse | undefined> {
  const { principal, services, id } = authorised;
  const named = parseResponseId(id);
  const runId = named && (await services.runIds.verifyFor(named.runId, viewerOf(principal)));
  return runId && { ...named, runId };
}

async function show(
  authorised: AuthorisedRequest,
  { runId, ...leg }: NamedResponse,
  wanted: Wanted,
): Promise<Response> {
  const followed = { runId, wire: eventLines, after: undefined };
  return answer(authorised, await followRun(authorised, followed), { ...leg, ...wanted });
}

/** Writes what the runtime answered as a response. A refusal passes. */
async function answer(
  authorised: AuthorisedRequest,
  given: Response,
  { isStream, seen, ...leg }: Wanted & Leg,
): Promise<Response> {
  const fold = new ResponseFold(leg, linkApprovals(authorised), seen);
  const toAnswer: ToAnswer = (init) => Response.json(fold.response(), init);
  return answerFolded(given, fold, isStream ? undefined : toAnswer);
}

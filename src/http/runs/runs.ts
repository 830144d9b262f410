import * as v from "valibot";
import type { RunId } from "../../protocol/identity/ids.ts";
import type { ClientWire } from "../../protocol/run/client-wire.ts";
import { parseEventId, type EventPosition } from "../../protocol/run/event-id.ts";
import type { RunAnswer } from "../../capabilities/run.ts";
import { viewerOf } from "../../protocol/identity/viewer.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { readWire, refuseWire } from "./client-wire.ts";
import { replaceHalves } from "../../protocol/text/whole-characters.ts";
import { limitUndo } from "./undo.ts";
import { problem } from "../request/problem.ts";
import { readJson } from "../request/read-json.ts";
import { refuseRun } from "./refuse-run.ts";
import { readActorKey } from "./request-key.ts";
import { MAX_MESSAGE_CHARS } from "../claim/say-aside.ts";
import { readInvocationId } from "../../protocol/invocation/id.ts";

/** Reads, stops and steers one run. */
export const RUN_ROUTES: Routes = {
  "/v1/runs/:id": { GET: { scope: "runs:read", handle: getRun } },
  "/v1/runs/:id/events": { GET: { scope: "runs:read", handle: getEvents } },
  "/v1/runs/:id/context": { GET: { scope: "audit:read", handle: getContext } },
  "/v1/runs/:id/cancel": { POST: { scope: "chat", handle: postCancel } },
  "/v1/runs/:id/messages": { POST: { scope: "chat", handle: postMessage } },
  "/v1/runs/:id/invocations/:invocationId/outcome": {
    POST: { scope: "runs:operate", handle: postOutcome },
  },
};

/** `GET /v1/runs/:id`: the state of the run. */
async function getRun(authorised: AuthorisedRequest): Promise<Response> {
  const { principal, services, id } = authorised;
  const runId = await services.runIds.verifyFor(id, viewerOf(principal));
  if (!runId) return refuseRun(UNKNOWN);
  const state = await services.runs.of(runId).state(viewerOf(principal));
  return answerState(await limitUndo(authorised, state));
}

/** `GET /v1/runs/:id/context`: what the run knew of its situation, as evidence. */
async function getContext({ principal, services, id }: AuthorisedRequest): Promise<Response> {
  const runId = await services.runIds.verify(id, principal.tenantId);
  const answer = runId ? await services.runs.of(runId).context(viewerOf(principal)) : UNKNOWN;
  if (answer.kind !== "context") return refuseRun(answer);
  const { kind: _, ...evidence } = answer;
  return Response.json({ runId, ...evidence });
}

/**
 * `POST /v1/runs/:id/cancel`: stops the run and answers its state; repeating it changes nothing.
 */
async function postCancel({ principal, services, id }: AuthorisedRequest): Promise<Response> {
  const runId = await services.runIds.verifyFor(id, viewerOf(principal));
  return answerState(runId ? await services.runs.of(runId).cancel(viewerOf(principal)) : UNKNOWN);
}

export const messageBody = v.strictObject({
  content: v.pipe(v.string(), v.nonEmpty(), v.maxLength(MAX_MESSAGE_CHARS)),
});

/** `POST /v1/runs/:id/messages`: sends a steering message to a running run. */
async function postMessage(authorised: AuthorisedRequest): Promise<Response> {
  const { request, principal, services, id } = authorised;
  const body = await readJson(request, messageBody);
  if (!body.ok) return body.failure;
  const runId = await services.runIds.verifyFor(id, viewerOf(principal));
  if (!runId) return refuseRun(UNKNOWN);
  const key = await readActorKey(authorised);
  if (!key.ok) return key.failure;
  const answer = await services.runs.of(runId).steer(viewerOf(principal), {
    text: replaceHalves(body.value.content),
    ...key.value,
  });
  switch (answer.kind) {
    case "taken":
      return Response.json(answer.state, { status: 202 });
    case "ended":
      return problem("run_ended");
    case "full":
      return problem("too_many_messages", { headers: { "retry-after": "1" } });
    case "key_reused":
      return problem("request_key_reused");
    case "unknown":
    case "gone":
      return refuseRun(answer);
  }
}

export const outcomeBody = v.strictObject({
  outcome: v.picklist(["committed", "not_committed", "reviewed"]),
});

/**
 * `POST /v1/runs/:id/invocations/:invocationId/outcome`: resolves an unknown outcome, or reviews a
 * mismatch.
 */
async function postOutcome(authorised: AuthorisedRequest): Promise<Response> {
  const { request, principal, services, id, invocationId } = authorised;
  const body = await readJson(request, outcomeBody);
  if (!body.ok) return body.failure;
  const runId = await services.runIds.verifyFor(id, viewerOf(principal));
  if (!runId) return refuseRun(UNKNOWN);
  // An invalid invocation id becomes one that no invocation has: an unknown run is answered first.
  const report = { invocation: readInvocationId(invocationId), by: principal.actorId };
  const { outcome } = body.value;
  const [run, viewer] = [services.runs.of(runId), viewerOf(principal)];
  const answer = await (outcome === "reviewed"
    ? run.review(viewer, report)
    : run.resolveOutcome(viewer, { ...report, outcome }));
  switch (answer.kind) {
    case "resolved":
      return Response.json(answer.state);
    case "not_awaited":
      return problem("outcome_not_awaited");
    case "unknown_invocation":
      return problem("invocation_not_found");
    case "unknown":
    case "gone":
      return refuseRun(answer);
  }
}

/** `GET /v1/runs/:id/events`: streams the events of the run after Last-Event-ID. */
async function getEvents(authorised: AuthorisedRequest): Promise<Response> {
  const { request, principal, services, id } = authorised;
  // A HEAD request would open a stream that no client reads or closes.
  if (request.method === "HEAD")
    return problem("method_not_allowed", { headers: { allow: "GET" } });
  const lastEventId = request.headers.get("last-event-id");
  const after = lastEventId === null ? undefined : parseEventId(lastEventId);
  if (lastEventId !== null && !after) {
    return problem("event_id_invalid", {
      detail: "Last-Event-ID must be <epoch>-<sequence>. Send an id from the stream.",
    });
  }
  const wire = readWire(request, services.wires);
  if (!wire.ok) return wire.failure;
  const runId = await services.runIds.verifyFor(id, viewerOf(principal));
  if (!runId) return refuseRun(UNKNOWN);
  return followRun(authorised, { runId, wire: wire.value, after });
}

/** Answers with the events of a run after a position; without one, from the first event. */
export async function followRun(
  { principal, services }: Pick<AuthorisedRequest, "principal" | "services">,
  { runId, wire, after }: Followed,
): Promise<Response> {
  const reader = { viewer: viewerOf(principal), wire: wire.name };
  const answer = await services.runs.events(runId, reader, after);
  switch (answer.kind) {
    case "stream":
      return answer.response;
    case "ended":
      return new Response(null, { status: 204 });
    case "position_unknown":
      return problem("event_id_unknown");
    case "too_many_readers":
      return problem("too_many_readers", { headers: { "retry-after": "5" } });
    case "unknown_wire":
      return refuseWire(services.wires);
    case "unknown":
    case "gone":
      return refuseRun({ kind: answer.kind });
  }
}

/** What a reader follows. */
interface Followed {
  readonly runId: RunId;
  readonly wire: ClientWire;
  readonly after: EventPosition | undefined;
}

const UNKNOWN = { kind: "unknown" } as const;

function answerState(answer: RunAnswer): Response {
  return answer.kind === "run" ? Response.json(answer.state) : refuseRun(answer);
}

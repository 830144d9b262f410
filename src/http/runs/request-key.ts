import type { StartAnswer } from "../../capabilities/run.ts";
import { hashOf } from "../../protocol/json/canonical-hash.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
import type { JsonValue } from "../../protocol/json/value.ts";
import { encodeEvents, streamHeaders, type ClientWire } from "../../protocol/run/client-wire.ts";
import type { RunRequest } from "../../protocol/run/request.ts";
import { parseRequestKey } from "../../protocol/run/request-key.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { ownerOf, viewerOf } from "../../protocol/identity/viewer.ts";
import { refuseWire } from "./client-wire.ts";
import { problem } from "../request/problem.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import type { Services } from "../services.ts";

/** The run that a request starts. */
export type RequestedRun = Pick<RunRequest, "runId" | "requestHash" | "isOfChat">;

/**
 * Chooses the id of the run that a request starts: a new id, or with an `Idempotency-Key` the id
 * that tenant, actor and key derive. Contract: the body has whole characters, so it has a hash.
 * Fails: 400 for an invalid key.
 */
export async function chooseRun(
  { request, principal, services }: AuthorisedRequest,
  body: JsonValue,
): Promise<Result<RequestedRun, Response>> {
  const read = readKey(request);
  if (!read.ok) return read;
  const key = read.value;
  if (key === undefined) return ok({ runId: await services.runIds.mint(ownerOf(principal)) });
  const runId = await findRun({ principal, services }, key);
  return ok({ runId, requestHash: await hashOf(body) });
}

/** Finds the run of a key of one owner, also where the key was used before a rotation. */
export async function findRun(
  asking: Pick<AuthorisedRequest, "principal" | "services">,
  key: string,
): Promise<RunId> {
  const { principal, services } = asking;
  const older = await findOlder(asking, key);
  return older ?? services.runIds.derive(ownerOf(principal), key);
}

/**
 * Finds the run of a key that was used before the root secret was rotated.
 * Threat: the request is repeated after the rotation, and starts a second run. The look is that of
 * the tenant, because a run that the caller may not see exists, too.
 */
async function findOlder(
  { principal, services }: Pick<AuthorisedRequest, "principal" | "services">,
  key: string,
): Promise<RunId | undefined> {
  const runId = await services.runIds.deriveOlder(ownerOf(principal), key);
  if (runId === undefined) return undefined;
  const { tenantId, actorId } = principal;
  const viewer = { ...viewerOf({ tenantId, actorId, scopes: [], roles: [] }), seesAll: true };
  const answer = await services.runs.of(runId).state(viewer);
  return answer.kind === "unknown" ? undefined : runId;
}

/**
 * Reads the idempotency key of a request to an existing run. The actor is part of the key, because
 * two people may choose the same text. Fails: 400 for an invalid key.
 */
export async function readActorKey({
  request,
  principal,
}: AuthorisedRequest): Promise<Result<{ readonly requestKey?: string }, Response>> {
  const key = readKey(request);
  if (!key.ok) return key;
  if (key.value === undefined) return ok({});
  return ok({ requestKey: await hashOf([principal.actorId, key.value]) });
}

function readKey(request: Request): Result<string | undefined, Response> {
  const header = request.headers.get("idempotency-key");
  if (header === null) return ok(undefined);
  const key = parseRequestKey(header);
  if (key !== undefined) return ok(key);
  const detail = "The key must be 1 to 255 printable ASCII characters, quoted or without commas.";
  return fail(problem("request_key_invalid", { detail }));
}

/**
 * Answers a request whose run was started before; undefined for the first request. It runs before
 * every check whose result may change, so that a repetition gets the same answer as the first
 * request.
 */
export async function answerRepeat(
  { services, principal }: AuthorisedRequest,
  { runId, requestHash, isOfChat }: RequestedRun,
  wire: ClientWire,
): Promise<Response | undefined> {
  if (requestHash === undefined) return undefined;
  const { tenantId, embed } = principal;
  // A record does not name the assistant of a page, so the run's object answers embed tokens.
  const record = embed
    ? undefined
    : await services.runRecords.find({ tenantId, runId }, requestHash);
  if (record === "other_request") return refuseReused(isOfChat);
  if (record) {
    const stream = encodeEvents(wire, record.events, record.run);
    return new Response(stream, { headers: streamHeaders(wire, record.run) });
  }
  const reader = { viewer: viewerOf(principal), wire: wire.name };
  const answer = await services.runs.repeat(runId, reader, requestHash);
  return answer.kind === "unknown"
    ? undefined
    : formatAnswer(answer, { runId, services, ...(isOfChat && { isOfChat }) });
}

/** Turns the answer of the object into the response to a request with an idempotency key. */
export function formatAnswer(
  answer: StartAnswer,
  { runId, services, isOfChat }: RequestedRun & { readonly services: Services },
): Response {
  switch (answer.kind) {
    case "stream":
      return answer.response;
    case "unknown":
    case "gone":
      return problem(answer.kind === "gone" ? "run_expired" : "run_not_found");
    case "unknown_wire":
      return refuseWire(services.wires);
    case "running": {
      const headers = { "retry-after": "1", "x-run-id": runId };
      const detail =
        "The run is in progress. Follow its events, or repeat the request after it ended.";
      return problem("request_in_progress", { detail, headers });
    }
    case "other_request":
      return refuseReused(isOfChat);
    case "lapsed":
      return problem("turn_lapsed", { headers: { "retry-after": "1" } });
  }
}

function refuseReused(isOfChat?: true): Response {
  return problem(isOfChat ? "chat_id_reused" : "request_key_reused");
}

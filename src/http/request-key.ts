import { hashOf } from "../protocol/json/canonical-hash.ts";
import type { RunId } from "../protocol/identity/ids.ts";
import type { JsonValue } from "../protocol/json/value.ts";
import { isWellFormed } from "../protocol/json/guard.ts";
import { encodeEvents, streamHeaders, type ClientWire } from "../protocol/run/client-wire.ts";
import { parseRequestKey } from "../protocol/run/request-key.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import { ownerOf, viewerOf } from "../protocol/identity/viewer.ts";
import { refuseWire } from "./client-wire.ts";
import { problem } from "./problem.ts";
import type { AuthorisedRequest } from "./authorise.ts";
import type { Services } from "./services.ts";

/** Which run a request is about, before anything is known of it. */
export interface RunName {
  readonly runId: RunId;
  /** Present when the request came under a key. */
  readonly requestHash?: string;
}

/**
 * Names the run that a request starts: a new one, or under an `Idempotency-Key` the one of this tenant,
 * this actor and this key. Fails: 400 for a key that is none, or a body that nothing can be bound to.
 */
export async function nameRun(
  { request, principal, services }: AuthorisedRequest,
  body: JsonValue,
): Promise<Result<RunName, Response>> {
  const read = readKey(request);
  if (!read.ok) return read;
  const key = read.value;
  if (key === undefined) return ok({ runId: await services.runIds.mint(principal.tenantId) });
  if (!isWellFormed(body)) return fail(problem("invalid_encoding"));
  const runId = await services.runIds.derive(ownerOf(principal), key);
  return ok({ runId, requestHash: await hashOf(body) });
}

/**
 * Reads the key of a request to a run, together with who makes it: two people may choose the same one.
 * Fails: 400 for a key that is none.
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
  const detail = "It must be 1 to 255 printable ASCII characters, quoted or without commas.";
  return fail(problem("request_key_invalid", { detail }));
}

/**
 * Answers a request whose run has been started before; undefined when this is the first. It comes
 * before every check of what may change, so that a repeated request is answered as the first one was.
 */
export async function answerRepeat(
  { services, principal }: AuthorisedRequest,
  { runId, requestHash }: RunName,
  wire: ClientWire,
): Promise<Response | undefined> {
  if (requestHash === undefined) return undefined;
  const record = await services.runRecords.find(runId);
  if (record) {
    if (record.requestHash !== requestHash) return problem("request_key_reused");
    const stream = encodeEvents(wire, record.events, record.run);
    return new Response(stream, { headers: streamHeaders(wire, runId) });
  }
  const reader = { viewer: viewerOf(principal), wire: wire.name };
  const answer = await services.runs.repeat(runId, reader, requestHash);
  return answer.status === 404 ? undefined : formatAnswer(answer, { runId, services });
}

/** Words what the object says to a request that is not the first one under its key. */
export function formatAnswer(
  answer: Response,
  { runId, services }: { readonly runId: RunId; readonly services: Services },
): Response {
  switch (answer.status) {
    case 404:
      return problem("run_not_found");
    case 406:
      return refuseWire(services.wires);
    case 409: {
      const headers = { "retry-after": "1", "x-run-id": runId };
      const detail = "Follow its run, or ask again once it has ended.";
      return problem("request_in_progress", { detail, headers });
    }
    case 410:
      return problem("run_expired");
    case 422:
      return problem("request_key_reused");
    default:
      return answer;
  }
}

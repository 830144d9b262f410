import type { Operations } from "../../.interlock/api.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import { sendOnce, type AnyRequest } from "./call.ts";
import type { Failure } from "./failure.ts";
import type { CallPorts } from "./ports.ts";

/** The format in which a run's events are asked for. */
export interface StreamFormat {
  /** Name of its wire. Absent: the deployment's first. */
  readonly wire?: string | undefined;
  readonly mediaType: string;
}

/** Where a run is followed from. */
export interface Followed {
  readonly runId: string;
  /** `lastEventId` of an earlier stream. Absent: from the first event. */
  readonly after?: string | undefined;
}

/** A question under a key. */
export interface Asked {
  readonly body: Operations["POST /v1/chat"]["request"]["body"];
  readonly key: string;
}

/**
 * An open stream. Without a body, `runId` names the run to follow. Without both, the run has no
 * more events.
 */
export interface OpenStream {
  readonly body?: ReadableStream<Uint8Array>;
  readonly runId?: string;
  readonly conversationId?: string;
}

/**
 * Asks a question, or opens the events of a run. Returns only the run id when an earlier request
 * under the key started the run.
 * Contract: never throws; sent once; safe to repeat, because a key starts one run.
 */
export async function openStream(
  ports: CallPorts,
  format: StreamFormat,
  { begin, signal }: { readonly begin: Asked | Followed; readonly signal: AbortSignal },
): Promise<Result<OpenStream, Failure>> {
  const [name, request] = toRequest(begin);
  const query = { wire: format.wire };
  const headers = { ...request.headers, accept: format.mediaType };
  const opened = await sendOnce(ports, name, { ...request, query, headers, signal });
  if (!opened.ok) {
    const { code, runId } = opened.failure;
    return code === "request_in_progress" && runId !== undefined ? ok({ runId }) : opened;
  }
  const { status, headers: given, body } = opened.value;
  if (status === 204) return ok({});
  if (!body || !given.get("content-type")?.startsWith(format.mediaType)) {
    body?.cancel().catch(() => undefined);
    return fail(NO_STREAM);
  }
  const runId = given.get("x-run-id");
  const conversationId = given.get("x-conversation-id");
  return ok({ body, ...(runId && { runId }), ...(conversationId && { conversationId }) });
}

function toRequest(begin: Asked | Followed): readonly [name: string, request: AnyRequest] {
  if ("key" in begin) return ["POST /v1/chat", begin];
  const headers = { "last-event-id": begin.after };
  return ["GET /v1/runs/{id}/events", { path: { id: begin.runId }, headers }];
}

/** The server answered something else than a stream. */
const NO_STREAM: Failure = {
  code: "unreadable",
  message: "The server sent no stream of events. Check the address.",
  isTransient: false,
};

import type { ApprovalLink } from "../../wire/openai-inbound/notes.ts";
import { EVENT_STREAM_HEADERS } from "../../protocol/run/client-wire.ts";
import { EventLineReader, type LineBatch } from "../../wire/openai-inbound/event-line-reader.ts";
import type { Fold } from "../../wire/openai-inbound/fold-response.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";

/** Opens the lines of an answer of the runtime; undefined for a refusal. */
export function linesOf({ body, status }: Response): EventLineReader | undefined {
  return status === 200 && body ? new EventLineReader(body) : undefined;
}

/** Links approvals to the page of the deployment, or to their address where it has none. */
export function linkApprovals({ request, services }: AuthorisedRequest): ApprovalLink {
  const { origin } = new URL(request.url);
  const hasPage = services.pages.some(({ paths }) => paths.includes("/approvals"));
  const path = hasPage ? "/approvals#" : "/v1/approvals/";
  return ({ approvalId }) => `${origin}${path}${approvalId}`;
}

/** Makes the answer of a fold that has ended; `init` names the run. */
export type ToAnswer = (init: { readonly headers: Record<string, string> }) => Response;

/**
 * Writes what the runtime answered as a client reads it: as a stream, or with `toAnswer` once it
 * has ended. A refusal passes.
 */
export async function answerFolded(
  given: Response,
  fold: Fold,
  toAnswer: ToAnswer | undefined,
): Promise<Response> {
  const lines = linesOf(given);
  if (!lines) return given;
  if (!toAnswer) return streamFolded(lines, fold, given);
  while (!fold.hasEnded) {
    const batch = await lines.next();
    if (!batch) break;
    foldBatch(batch, fold);
  }
  lines.cancel();
  return toAnswer({ headers: idsOf(given.headers) });
}

/** Streams the answer that a fold makes. Each write holds whole frames. */
export function streamFolded(lines: EventLineReader, fold: Fold, { headers }: Response): Response {
  const utf8 = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (let text = ""; text === "";) {
        const batch = fold.hasEnded ? undefined : await lines.next();
        if (!batch) {
          lines.cancel();
          return controller.close();
        }
        const isHeartbeat = batch.lines.length === 0 && !batch.waits;
        text = isHeartbeat ? ": keep-alive\n\n" : foldBatch(batch, fold);
        if (text !== "") controller.enqueue(utf8.encode(text));
      }
    },
    cancel: () => lines.cancel(),
  });
  return new Response(body, { headers: { ...idsOf(headers), ...EVENT_STREAM_HEADERS } });
}

/** The ids of the run, as every answer of a run has them. */
function idsOf(headers: Headers): Record<string, string> {
  const names = ["x-run-id", "x-conversation-id"];
  return Object.fromEntries(names.map((name) => [name, headers.get(name) ?? ""]));
}

function foldBatch({ lines, waits }: LineBatch, fold: Fold): string {
  const frames = lines.map((line) => fold.take(line)).join("");
  return waits && !fold.hasEnded ? frames + fold.rest() : frames;
}

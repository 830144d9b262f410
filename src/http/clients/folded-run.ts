import type { ApprovalLink } from "../../wire/openai-inbound/notes.ts";
import { EventLineReader, type LineBatch } from "../../wire/openai-inbound/event-lines.ts";
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

/** Reads a run until its answer has ended. */
export async function readWhole(lines: EventLineReader, fold: Fold): Promise<void> {
  while (!fold.hasEnded) {
    const batch = await lines.next();
    if (!batch) return;
    foldBatch(batch, fold);
  }
  lines.cancel();
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
  return new Response(body, { headers: { ...idsOf(headers), ...STREAM_HEADERS } });
}

/** The ids of the run, as every answer of a run has them. */
export function idsOf(headers: Headers): Readonly<Record<string, string>> {
  const names = ["x-run-id", "x-conversation-id"];
  return Object.fromEntries(names.map((name) => [name, headers.get(name) ?? ""]));
}

const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

function foldBatch({ lines, waits }: LineBatch, fold: Fold): string {
  const frames = lines.map((line) => fold.take(line)).join("");
  return waits && !fold.hasEnded ? frames + fold.rest() : frames;
}

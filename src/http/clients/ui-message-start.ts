import type { RunId } from "../../protocol/identity/ids.ts";
import type { ClientWire } from "../../protocol/run/client-wire.ts";
import { formatEventId, type EventPosition } from "../../protocol/run/event-id.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { followRun } from "../runs/runs.ts";

/** Where a message of its own begins: after the words of the person that it answers. */
interface Place {
  readonly runId: RunId;
  readonly at: EventPosition;
}

/** The first frame of a step, and those that end a message. */
const STEP = 'data: {"type":"start-step"';
const END = /^data: (?:\[DONE\]|\{"type":"(?:finish|abort|error)")/;

/** Follows a run from the middle on, as a message of its own. */
export async function followMessage(
  authorised: AuthorisedRequest,
  { runId, at, wire }: Place & { readonly wire: ClientWire },
): Promise<Response> {
  const response = await followRun(authorised, { runId, wire, after: at });
  return beginMessage(response, { runId, at });
}

/**
 * Begins a message of its own in the middle of a run: with its next step, because what comes before
 * belongs to an earlier message of the client. A run that waits on ends the message.
 * Ownership: the answer owns the body of the response; who leaves it cancels the body.
 */
function beginMessage(response: Response, { runId, at }: Place): Response {
  const { body, ok } = response;
  if (!ok || !body) return response;
  const place = formatEventId(at);
  const start = frameOf({
    type: "start",
    messageId: `${runId}:${place}`,
    messageMetadata: { runId },
  });
  const waits = { type: "finish", finishReason: "tool-calls", messageMetadata: { waitsAt: place } };
  let [rest, hasBegun] = ["", false];
  const begin = new TransformStream<string, string>({
    start: (controller) => controller.enqueue(start),
    transform(text, controller) {
      if (hasBegun) return controller.enqueue(text);
      const frames = (rest + text).split(/(?<=\n\n)/);
      rest = frames.at(-1)?.endsWith("\n\n") ? "" : (frames.pop() ?? "");
      const from = frames.findIndex((frame) => frame.startsWith(STEP) || END.test(frame));
      if (from === -1) return;
      hasBegun = true;
      const isOver = frames[from]?.startsWith("data: [DONE]") === true;
      controller.enqueue((isOver ? frameOf(waits) : "") + frames.slice(from).join("") + rest);
    },
  });
  const stream = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(begin)
    .pipeThrough(new TextEncoderStream());
  return new Response(stream, response);
}

function frameOf(chunk: object): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

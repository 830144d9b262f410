import type * as v from "valibot";
import type { RunId } from "../identity/ids.ts";
import type { ChatRequestBody } from "./chat-request.ts";
import type { LoggedEvent } from "./event.ts";

/** Facts about a run that never change; an encoder may repeat them in each event. */
export interface StreamedRun {
  readonly runId: RunId;
  /** The first run of the conversation; the run itself when the run continues none. */
  readonly workflowId: RunId;
  readonly model: string;
  /** Unit: Unix milliseconds. */
  readonly createdMs: number;
}

/**
 * A protocol that clients speak: how a request to start a run is read, and how its events are sent.
 * Contract: stateless and pure. Within one revision, the same event of the same run gives the same
 * text, at any time and for any reader.
 */
export interface ClientWire {
  /** What a reader calls the wire: lower-case letters, digits and hyphens. */
  readonly name: string;
  /**
   * Version of the encoder. It is raised with every change to the text of any event. A reader that
   * resumes under another revision gets the same events, but not the same bytes.
   */
  readonly revision: number;
  /** Headers of a response that carries the stream. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent to idle readers so that intermediaries keep the connection; it carries no event. */
  readonly heartbeat: string;
  /** Ends a stream whose run goes on later; it is no event, so it has no id. */
  readonly trailer: string;
  /** Reads a request body in the shape of this wire, and answers the neutral one. */
  readonly requestBody: v.GenericSchema<unknown, ChatRequestBody>;
  /** Encodes one event; the empty text for an event that this wire does not show. */
  encode(entry: LoggedEvent, run: StreamedRun): string;
}

/** Headers of a stream of events of the web. */
export const EVENT_STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
} as const;

/** The registered wires; a reader that names none gets the first. */
export type ClientWires = readonly [ClientWire, ...ClientWire[]];

/** Finds the wire that a reader named, or the default for `null`; undefined for an unknown name. */
export function findWire(wires: ClientWires, name: string | null): ClientWire | undefined {
  return name === null ? wires[0] : wires.find((wire) => wire.name === name);
}

/** Encodes events in their order, as one text. */
export function encodeEvents(
  wire: ClientWire,
  entries: Iterable<LoggedEvent>,
  run: StreamedRun,
): string {
  let text = "";
  for (const entry of entries) text += wire.encode(entry, run);
  return text;
}

/**
 * Builds the headers of a stream: those of its wire, the ids of the run and of its conversation,
 * and the wire with its revision.
 */
export function streamHeaders(
  { name, revision, headers }: ClientWire,
  { runId, workflowId }: Pick<StreamedRun, "runId" | "workflowId">,
): Readonly<Record<string, string>> {
  const ids = { "x-run-id": runId, "x-conversation-id": workflowId };
  return { ...headers, ...ids, "x-wire": `${name}; revision=${revision}` };
}

import { maySee, type Viewer } from "../../src/protocol/identity/viewer.ts";
import { streamHeaders, type ClientWire } from "../../src/protocol/run/client-wire.ts";
import { parseEventId } from "../../src/protocol/run/event-id.ts";
import {
  ANSWER_KIND_HEADER,
  type EventsKind,
  type StartKind,
} from "../../src/protocol/run/answer-kind.ts";
import { streamedRunOf, type OpenRun } from "./open-run.ts";
import { checkRunAccess } from "../../src/run/visibility.ts";

/** Who opens a stream, and in which wire. */
export interface StreamReader {
  readonly viewer: Viewer;
  readonly wire: ClientWire;
}

/** Opens a stream of all events after `seq`. */
export function streamRun({ feed, store }: OpenRun, seq: number, wire: ClientWire): Response {
  const headers = {
    ...streamHeaders(wire, streamedRunOf(store)),
    [ANSWER_KIND_HEADER]: "stream",
  };
  return new Response(feed.open(seq, wire), { headers });
}

/**
 * Answers a repeated request that starts a run. All requests under one key reach this object, so
 * only the first one starts a run.
 */
export function answerRepeat(
  run: OpenRun | undefined,
  requestHash: string | null | undefined,
  { viewer, wire }: StreamReader,
): Response {
  if (!run) return refuseStart("unknown");
  const missing = checkRunAccess(run.store, maySee, viewer);
  if (missing?.kind === "unknown") return refuseStart("unknown");
  if (requestHash === null || run.store.identity().requestHash !== requestHash) {
    return refuseStart("other_request");
  }
  if (missing) return refuseStart("gone");
  return run.journal.hasEnded ? streamRun(run, 0, wire) : refuseStart("running");
}

/** Answers with the events after a position; from the first event on without one. */
export function answerEvents(
  run: OpenRun | undefined,
  lastEventId: string | null,
  { viewer, wire }: StreamReader,
): Response {
  if (!run) return refuseEvents("unknown");
  const missing = checkRunAccess(run.store, maySee, viewer);
  if (missing) return refuseEvents(missing.kind);
  const after = lastEventId === null ? undefined : parseEventId(lastEventId);
  const seq = after ? run.log.resumeAfter(after) : 0;
  if (seq === undefined) return refuseEvents("position_unknown");
  if (run.feed.isFull) return refuseEvents("too_many_readers");
  const isOver = run.journal.hasEnded && seq === run.log.headSeq;
  return isOver ? refuseEvents("ended") : streamRun(run, seq, wire);
}

export function refuseStart(kind: StartKind): Response {
  return refuse(kind);
}

function refuseEvents(kind: EventsKind): Response {
  return refuse(kind);
}

function refuse(kind: StartKind | EventsKind): Response {
  return new Response(null, { headers: { [ANSWER_KIND_HEADER]: kind } });
}

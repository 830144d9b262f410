/**
 * Header in which a run's object names the kind of its answer to a `fetch`. Contract: it decides;
 * every answer has status 200.
 */
export const ANSWER_KIND_HEADER = "x-run-answer";

/** Kinds of answer to a request that starts or repeats a run. */
export const START_KINDS = [
  "stream",
  "unknown",
  "running",
  "gone",
  "other_request",
  "unknown_wire",
  /** The turn of the run was opened too long ago. */
  "lapsed",
] as const;

/** Kinds of answer to a request for events. */
export const EVENTS_KINDS = [
  "stream",
  "ended",
  "unknown",
  "position_unknown",
  "gone",
  "too_many_readers",
  "unknown_wire",
] as const;

export type StartKind = (typeof START_KINDS)[number];
export type EventsKind = (typeof EVENTS_KINDS)[number];

/**
 * Header in which a run's object names the kind of its answer to a `fetch`. During a deploy the
 * Worker and an object may run different versions. For one release the object also sends the status
 * below, and the gateway falls back to the status when the header is absent. The next release
 * removes both: then every answer but a stream has status 200, and the header decides.
 */
export const ANSWER_KIND_HEADER = "x-run-answer";

/**
 * Kinds of answer to a request that starts or repeats a run, with the status of the previous
 * release.
 */
export const START_STATUS = {
  stream: 200,
  unknown: 404,
  running: 409,
  gone: 410,
  other_request: 422,
  unknown_wire: 406,
} as const;

/** Kinds of answer to a request for events, with the status of the previous release. */
export const EVENTS_STATUS = {
  stream: 200,
  ended: 204,
  unknown: 404,
  position_unknown: 409,
  gone: 410,
  too_many_readers: 429,
  unknown_wire: 406,
} as const;

export type StartKind = keyof typeof START_STATUS;
export type EventsKind = keyof typeof EVENTS_STATUS;

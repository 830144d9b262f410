/** What an answer's body turns out to be. */
export type BodyKind = "events" | "json" | "other";

/** More of a body that still looks like nothing is not waited for. Unit: UTF-16 code units. */
const MAX_HEAD_CHARS = 1_024;
const EVENT_FIELD = /^(?:data|event|id|retry)?:/;
const START_OF_EVENT_FIELD =
  /^(?:d(?:a(?:ta?)?)?|e(?:v(?:e(?:nt?)?)?)?|id?|r(?:e(?:t(?:ry?)?)?)?)$/;

/**
 * Tells from its beginning what a body is: providers mislabel both streams and errors.
 * Contract: pure; undefined when more of the body could still tell; decides at the latest for a
 * head of 1,024 characters or for `ended`.
 */
export function bodyKind(
  head: string,
  contentType: string | null,
  ended: boolean,
): BodyKind | undefined {
  const start = head.trimStart();
  if (start.startsWith("{") || start.startsWith("[")) return "json";
  if (start.startsWith("<")) return "other";
  if (EVENT_FIELD.test(start)) return "events";
  const undecided = start === "" || START_OF_EVENT_FIELD.test(start);
  if (undecided && !ended && head.length < MAX_HEAD_CHARS) return undefined;
  return contentType?.toLowerCase().includes("text/event-stream") ? "events" : "other";
}

/** Format of an answer's body: server-sent events, one JSON document, or neither. */
export type BodyKind = "events" | "json" | "other";

/** Longest head that may stay undecided. Unit: UTF-16 code units. */
const MAX_HEAD_CHARS = 1_024;
const EVENT_FIELD = /^(?:data|event|id|retry)?:/;
const START_OF_EVENT_FIELD =
  /^(?:d(?:a(?:ta?)?)?|e(?:v(?:e(?:nt?)?)?)?|id?|r(?:e(?:t(?:ry?)?)?)?)$/;

/**
 * Detects the format of a body from its first characters: providers mislabel streams and errors.
 * Contract: pure; undefined while more of the body could decide. A head of 1,024 characters, or
 * `ended`, always decides.
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

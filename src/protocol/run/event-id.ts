import type { EventId } from "../identity/ids.ts";

/** Position of an event in its run: recovery epoch and sequence number. Both only grow. */
export interface EventPosition {
  readonly epoch: number;
  readonly seq: number;
}

/** Formats a position as `<epoch>-<seq>`, the `id:` of a server-sent event. */
export function formatEventId({ epoch, seq }: EventPosition): EventId {
  return `${epoch}-${seq}` as EventId;
}

/** Parses `<epoch>-<seq>`; undefined for any other text, of any length. */
export function parseEventId(text: string): EventPosition | undefined {
  if (text.length > 32) return undefined;
  const match = /^(0|[1-9]\d{0,14})-(0|[1-9]\d{0,14})$/.exec(text);
  return match ? { epoch: Number(match[1]), seq: Number(match[2]) } : undefined;
}

import type { AiEvent } from "../protocol/ai-event.ts";
import type { EventPosition } from "../protocol/event-id.ts";

/**
 * Encodes a run's events for its readers.
 * Contract: pure; the same event at the same position gives the same text, whoever reads it and when.
 */
export interface EventEncoder {
  /** Headers of a response that carries the encoding. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent to idle readers; means nothing. */
  readonly heartbeat: string;
  /** Ends a stream whose run goes on later; no event, so it has no id. */
  readonly trailer: string;
  encode(event: AiEvent, position: EventPosition): string;
}

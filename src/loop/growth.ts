import {
  MAX_CONVERSATION_BYTES,
  type TranscriptMessage,
} from "../protocol/conversation/message.ts";

/**
 * Measures how far a conversation has grown beyond what it began with.
 * Threat: a model that asks for large results step after step, or a person who floods a run, fills the
 * memory that the run shares with the runs of others. What grew past the limit nothing could continue.
 * Contract: reads each message once.
 */
export class Growth {
  readonly #transcript: readonly TranscriptMessage[];
  #counted: number;
  #chars = 0;

  /** The first `begun` messages are those it began with. */
  constructor(transcript: readonly TranscriptMessage[], begun: number) {
    this.#transcript = transcript;
    this.#counted = begun;
  }

  /** Tells whether it has grown by more than any run may continue. Unit: JSON text, in UTF-16 code units. */
  isTooLong(): boolean {
    for (const message of this.#transcript.slice(this.#counted)) {
      this.#chars += JSON.stringify(message).length;
    }
    this.#counted = this.#transcript.length;
    return this.#chars > MAX_CONVERSATION_BYTES;
  }
}

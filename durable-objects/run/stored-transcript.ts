import type { TranscriptMessage } from "../../src/protocol/conversation/message.ts";
import type { RunLog } from "./run-log.ts";

/**
 * The messages of a run in its log: its own part of the conversation.
 * Ownership: one per run object; the only writer of messages.
 */
export class StoredTranscript {
  readonly #log: RunLog;

  constructor(log: RunLog) {
    this.#log = log;
  }

  add(message: TranscriptMessage): void {
    this.#log.put({ kind: "message", message });
  }

  /** Reads the conversation from the log. Contract: no batch is open. */
  all(): readonly TranscriptMessage[] {
    const messages: TranscriptMessage[] = [];
    for (const entry of this.#log.entries()) {
      if (entry.kind === "message") messages.push(entry.message);
    }
    return messages;
  }
}

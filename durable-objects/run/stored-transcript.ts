import type { TranscriptMessage } from "../../src/protocol/conversation/message.ts";
import { utf8Bytes } from "../../src/protocol/text/encoding.ts";
import type { RunLog } from "./run-log.ts";

/**
 * A run's conversation in its log.
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

  /** Unit: bytes of JSON. */
  bytes(): number {
    return this.all().reduce((sum, message) => sum + utf8Bytes(JSON.stringify(message)), 0);
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

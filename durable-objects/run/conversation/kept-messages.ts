import type { TranscriptMessage } from "../../../src/protocol/conversation/message.ts";

/** As much as a hundred turns of a thousand characters. Unit: UTF-16 code units of JSON. */
const MAX_CHARS = 256 * 1024;

/** The messages of one turn. `chars` is the length of their JSON. */
export interface KeptTurn {
  readonly number: number;
  readonly messages: readonly TranscriptMessage[];
  readonly chars: number;
}

/**
 * The messages that were read last, in memory: a page never changes, and each post of a chat reads
 * what the post before read. Of more than fits, those stay that were read last, and of these the
 * newest turns.
 * Ownership: one per conversation and incarnation of its object.
 */
export class KeptMessages {
  #turns = new Map<number, KeptTurn>();

  find(number: number): KeptTurn | undefined {
    return this.#turns.get(number);
  }

  /** Keeps the turns that were read, oldest first, and of those before what fits beside them. */
  keep(turns: readonly KeptTurn[]): void {
    const before = this.#turns;
    this.#turns = new Map();
    let left = MAX_CHARS;
    for (const turn of [...turns.toReversed(), ...before.values()]) {
      if (this.#turns.has(turn.number)) continue;
      left -= turn.chars;
      if (left < 0) return;
      this.#turns.set(turn.number, turn);
    }
  }

  /** Forgets a turn whose page is written or deleted. */
  forget(number: number): void {
    this.#turns.delete(number);
  }
}

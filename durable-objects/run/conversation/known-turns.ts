import type { Turn } from "../../../src/conversation/stored-turns.ts";

/** A chat of a thousand turns; each weighs about 600 bytes. */
const MAX_TURNS = 1_000;

/**
 * Ended turns that were read, in memory: each post of a chat reads the path that the post before
 * read. Contract: a turn that is written or deleted is forgotten first.
 * Ownership: one per conversation and incarnation of its object.
 */
export class KnownTurns {
  readonly #turns = new Map<number, Turn>();

  find(number: number): Turn | undefined {
    return this.#turns.get(number);
  }

  /** Keeps a turn that has ended; answers the turn. */
  keep(turn: Turn): Turn {
    if (!turn.end) return turn;
    if (this.#turns.size >= MAX_TURNS) this.#turns.clear();
    this.#turns.set(turn.number, turn);
    return turn;
  }

  forget(number: number): void {
    this.#turns.delete(number);
  }
}

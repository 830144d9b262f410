import type { GraphEdge } from "../graph/graph.ts";
import type { Point } from "./geometry.ts";
import { keyOf, type Pending } from "./model.ts";

/** What the reader did and the server has not answered yet. It is shown at once. */
export class PendingChanges {
  readonly #moves = new Map<string, Point | undefined>();
  #added: readonly GraphEdge[] = [];
  #removed: readonly GraphEdge[] = [];
  readonly #kinds = new Map<string, string>();
  /** The newest move of each system: an older answer does not end it. */
  readonly #newest = new Map<string, symbol>();

  get now(): Pending {
    return { moves: this.#moves, added: this.#added, removed: this.#removed, kinds: this.#kinds };
  }

  /** Answers the function that ends it. */
  move(ids: readonly string[], to: Point | undefined): () => void {
    const own = Symbol("move");
    for (const id of ids) {
      this.#moves.set(id, to);
      this.#newest.set(id, own);
    }
    return () => {
      for (const id of ids) if (this.#newest.get(id) === own) this.#moves.delete(id);
    };
  }

  add(edge: GraphEdge): () => void {
    this.#added = [...this.#added, edge];
    return () => {
      this.#added = this.#added.filter((one) => one !== edge);
    };
  }

  remove(edge: GraphEdge): () => void {
    this.#removed = [...this.#removed, edge];
    return () => {
      this.#removed = this.#removed.filter((one) => keyOf(one) !== keyOf(edge));
    };
  }

  changeKind(edge: GraphEdge, type: string): () => void {
    this.#kinds.set(keyOf(edge), type);
    return () => {
      this.#kinds.delete(keyOf(edge));
    };
  }
}

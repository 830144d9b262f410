import type { EffectClass, EffectFault } from "./scenario.ts";

/** What a tool asks the outside world for. */
export interface EffectRequest {
  readonly key: string;
  readonly runId: string;
  readonly operation: number;
  readonly effectClass: EffectClass;
  readonly fault: EffectFault;
}

/** What the world knows of one key. */
export interface EffectEntry {
  readonly key: string;
  readonly runId: string;
  readonly operation: number;
  readonly effectClass: EffectClass;
  requests: number;
  effects: number;
  /** Requests that may still have their effect. */
  pending: number;
}

/** What an effect's owner tells of it to whoever asks by key. */
export type EffectState = "committed" | "none" | "pending";

/**
 * Counts requests and effects by key, outside everything that may die.
 * Contract: an idempotent request has one effect for each key, every other one has its effect again.
 */
export class EffectBook {
  readonly #entries = new Map<string, EffectEntry>();
  readonly #requestsOf = new Map<string, number>();

  /** Notes a request; answers its entry and whether it is the first for its operation. */
  note({ key, runId, operation, effectClass }: EffectRequest): {
    readonly entry: EffectEntry;
    readonly isFirst: boolean;
  } {
    const name = `${runId}/${operation}`;
    const before = this.#requestsOf.get(name) ?? 0;
    this.#requestsOf.set(name, before + 1);
    const known = this.#entries.get(key);
    const entry = known ?? {
      key,
      runId,
      operation,
      effectClass,
      requests: 0,
      effects: 0,
      pending: 0,
    };
    entry.requests++;
    this.#entries.set(key, entry);
    return { entry, isFirst: before === 0 };
  }

  /** Has the effect that a request asks for. */
  commit(entry: EffectEntry): void {
    if (entry.effectClass === "read_only") return;
    if (entry.effectClass === "idempotent" && entry.effects > 0) return;
    entry.effects++;
  }

  stateOf(key: string): EffectState {
    const entry = this.#entries.get(key);
    if (!entry) return "none";
    if (entry.effects > 0) return "committed";
    return entry.pending > 0 ? "pending" : "none";
  }

  ofRun(runId: string): readonly EffectEntry[] {
    return this.all().filter((entry) => entry.runId === runId);
  }

  all(): readonly EffectEntry[] {
    return [...this.#entries.values()];
  }
}

import type { EffectClass, EffectFault } from "./scenario.ts";

/** Request of a tool to the outside world. */
export interface EffectRequest {
  readonly key: string;
  readonly runId: string;
  readonly operation: number;
  readonly effectClass: EffectClass;
  readonly fault: EffectFault;
}

/** What the world counted under one idempotency key. */
export interface EffectEntry {
  readonly key: string;
  readonly runId: string;
  readonly operation: number;
  readonly effectClass: EffectClass;
  requests: number;
  effects: number;
  /** Requests whose effect may still happen. */
  pending: number;
}

/** Answer to a request that looks an effect up by its key. */
export type EffectState = "committed" | "none" | "pending";

/**
 * Counts requests and effects by idempotency key, in a process that never dies.
 * Contract: an idempotent request has one effect for each key, every other one has its effect
 * again.
 */
export class EffectBook {
  readonly #entries = new Map<string, EffectEntry>();
  readonly #requestsOf = new Map<string, number>();

  /** Counts a request. Returns its entry, and whether it is the first request of its operation. */
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

  /** Makes the effect of a request. */
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

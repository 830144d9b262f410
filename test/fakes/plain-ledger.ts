import type { ReservationAnswer } from "../../src/capabilities/budget.ts";

interface Entry {
  readonly start: number;
  readonly granted: number;
  readonly keeps: number;
  readonly lapsesMs: number;
  state: "open" | "lapsed" | "settled" | "released";
  counted: number;
}

const WINDOW_MS = 7_200_000;

/** One budget, counted in the simplest way: by adding up all reservations. */
export class PlainLedger {
  /** Later reservations under one id are kept beside the earlier ones. */
  readonly #all: Entry[] = [];
  readonly #current = new Map<string, Entry>();

  get isUsed(): boolean {
    return this.#all.length > 0;
  }

  at(nowMs: number): { readonly counted: number; readonly windowStart: number } {
    const windowStart = nowMs - (nowMs % WINDOW_MS);
    const inWindow = this.#all.filter(({ start }) => start === windowStart);
    return { counted: inWindow.reduce((sum, { counted }) => sum + counted, 0), windowStart };
  }

  reserve(
    asked: {
      readonly id: string;
      readonly tokens: number;
      readonly least: number | undefined;
      readonly limit: number;
      readonly unsettled: { readonly forMs: number; readonly keeps: number } | undefined;
    },
    nowMs: number,
  ): ReservationAnswer {
    const { id, tokens, least = tokens, limit, unsettled } = asked;
    const isShrinkable = asked.least !== undefined;
    const known = this.#current.get(id);
    const isKept = known?.state === "settled" || isShrinkable || known?.granted === tokens;
    if (known && known.state !== "released" && isKept) {
      return answerOf(known.granted, isShrinkable);
    }
    const before = known?.counted ?? 0;
    if (known) known.counted = 0;
    const { counted, windowStart } = this.at(nowMs);
    if (least > 0 && counted + least > limit) {
      if (known) known.counted = before;
      return { kind: "exhausted", budget: "tokens" };
    }
    const granted = Math.min(tokens, Math.max(least, limit - counted));
    const entry: Entry = {
      start: windowStart,
      granted,
      keeps: Math.min(unsettled?.keeps ?? granted, granted),
      lapsesMs: unsettled ? nowMs + unsettled.forMs : Number.POSITIVE_INFINITY,
      state: "open",
      counted: granted,
    };
    this.#all.push(entry);
    this.#current.set(id, entry);
    return answerOf(granted, isShrinkable);
  }

  settle(id: string, tokens: number): void {
    this.#close(id, "settled", tokens);
  }

  release(id: string): void {
    this.#close(id, "released", 0);
  }

  lapse(nowMs: number): void {
    for (const entry of this.#current.values()) {
      if (entry.state !== "open" || entry.lapsesMs > nowMs) continue;
      entry.state = "lapsed";
      entry.counted = entry.keeps;
    }
  }

  #close(id: string, state: "settled" | "released", counted: number): void {
    const entry = this.#current.get(id);
    if (!entry || entry.state === "settled" || entry.state === "released") return;
    entry.state = state;
    entry.counted = counted;
  }
}

function answerOf(granted: number, isShrinkable: boolean): ReservationAnswer {
  return { kind: "reserved", ...(isShrinkable && { granted: { tokens: granted } }) };
}

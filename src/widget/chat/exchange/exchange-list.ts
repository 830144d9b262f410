import { createExchange, type Exchange, isActive } from "./exchange.ts";
import type { SavedExchange } from "../../session-store.ts";

export interface ExchangeListPorts {
  readonly save: (exchanges: readonly SavedExchange[]) => void;
  readonly onChange: () => void;
}

/** Holds the exchanges of a conversation in their order, and stores what a reload needs. */
export class ExchangeList {
  readonly #ports: ExchangeListPorts;
  #all: readonly Exchange[] = [];
  #nextKey = 0;

  constructor(ports: ExchangeListPorts) {
    this.#ports = ports;
  }

  get all(): readonly Exchange[] {
    return this.#all;
  }

  get isBusy(): boolean {
    return this.#all.some(isActive);
  }

  find(key: number): Exchange | undefined {
    return this.#all.find((exchange) => exchange.key === key);
  }

  /** The last finished run before an exchange: the exchange continues that run's transcript. */
  runBefore(key: number): Exchange | undefined {
    return this.#all.findLast((exchange) => exchange.key < key && exchange.answer.done);
  }

  restore(saved: readonly SavedExchange[]): void {
    this.#all = saved.map((exchange) => ({ ...this.#create(exchange.question), ...exchange }));
  }

  add(question: string): Exchange {
    const exchange = this.#create(question);
    this.#all = [...this.#all, exchange];
    this.save();
    return exchange;
  }

  replace(next: Exchange): void {
    this.#all = this.#all.map((exchange) => (exchange.key === next.key ? next : exchange));
    this.save();
  }

  patch(key: number, change: Partial<Exchange>): void {
    this.#all = this.#all.map((exchange) =>
      exchange.key === key ? { ...exchange, ...change } : exchange,
    );
    this.#ports.onChange();
  }

  clear(): void {
    this.#all = [];
    this.save();
  }

  save(): void {
    const saved = this.#all.map(({ question, runId, request }) => ({
      question,
      ...(runId ? { runId } : request && { request }),
    }));
    this.#ports.save(saved);
  }

  #create(question: string): Exchange {
    this.#nextKey += 1;
    return createExchange(this.#nextKey, question);
  }
}

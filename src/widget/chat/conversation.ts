import type { StreamedEvent } from "../../wire/assistant-transport/read-chunks.ts";
import { applyChunk } from "./answer/apply-chunk.ts";
import type { ChatApi } from "./stream/api.ts";
import { createExchange, type Exchange, isActive } from "./exchange/exchange.ts";
import { ExchangeList, type ExchangeListPorts } from "./exchange/exchange-list.ts";
import { type FollowEnd, type FollowPorts, followRun } from "./stream/follow-run.ts";
import { createReturnPause, type PausePorts } from "./stream/return-pause.ts";
import type { SavedExchange } from "../session-store.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import { createSteering, type SteerPorts, type SteerRun } from "./stream/steer-run.ts";
import { StreamOpener } from "./stream/stream-opener.ts";

export interface ConversationPorts extends ExchangeListPorts, FollowPorts, PausePorts, SteerPorts {
  readonly api: ChatApi;
  /** Returns what the page knows; see docs/embedding.md. */
  readonly context?: () => JsonObject | undefined;
  /** False where the page provides the token, so that the reader is not asked for one. */
  readonly canAskForToken: () => boolean;
}

const TOKEN_REFUSED =
  "The server rejected this page's access token. Reload the page or sign in again.";
const UNSENT =
  "It is unknown whether this question was sent. Select Try again: the server asks it only once.";

/** Carries a conversation: it starts, follows, steers and cancels the runs of its exchanges. */
export class Conversation {
  readonly #ports: ConversationPorts;
  readonly #exchanges: ExchangeList;
  readonly #opener: StreamOpener;
  readonly #steer: SteerRun;
  readonly #pause: ReturnType<typeof createReturnPause>;
  #lifetime = new AbortController();
  #stopRequested = false;
  #notice = "";

  constructor(ports: ConversationPorts) {
    this.#ports = ports;
    this.#exchanges = new ExchangeList(ports);
    this.#steer = createSteering(ports);
    this.#pause = createReturnPause(ports);
    const { api, newKey, context } = ports;
    const onRun = (runId: string) => this.#stopRequested && void this.#cancel(runId);
    this.#opener = new StreamOpener(this.#exchanges, {
      api,
      newKey,
      onRun,
      ...(context && { context }),
    });
  }

  get exchanges(): readonly Exchange[] {
    return this.#exchanges.all;
  }

  get isBusy(): boolean {
    return this.#exchanges.isBusy;
  }

  get isStopping(): boolean {
    return this.#stopRequested;
  }

  /** An error that belongs to no answer, or empty. */
  get notice(): string {
    return this.#notice;
  }

  /** Restores a saved conversation: every answer is read again from the start of its events. */
  restore(saved: readonly SavedExchange[]): void {
    this.#exchanges.restore(saved);
    for (const exchange of this.#exchanges.all) {
      if (exchange.runId !== undefined) this.#follow(exchange);
      else this.#exchanges.patch(exchange.key, { link: "broken", problem: UNSENT });
    }
    this.#ports.onChange();
  }

  ask(question: string): void {
    if (this.isBusy) return;
    this.#notice = "";
    this.#follow(this.#exchanges.add(question));
    this.#ports.onChange();
  }

  /**
   * Sends a steering message to the running answer, whose stream then shows the message. Returns
   * false when the message was not accepted; the text then stays in the message field.
   */
  async steer(message: string): Promise<boolean> {
    const exchange = this.exchanges.findLast(isActive);
    if (exchange?.runId === undefined) return false;
    this.#notice = "";
    const { signal } = this.#lifetime;
    const sent = await this.#steer(exchange.runId, message, signal);
    if (sent.ok) {
      this.hurry();
      return true;
    }
    if (!signal.aborted) this.#notice = `The message was not sent. ${sent.failure.message}`;
    this.#ports.onChange();
    return false;
  }

  /** Looks for news of waiting runs at once, because the reader decided something. */
  hurry(): void {
    this.#pause.end();
  }

  /** Continues a broken exchange. Asks again when the run failed, is gone or never began. */
  retry(key: number): void {
    const exchange = this.#exchanges.find(key);
    if (!exchange || isActive(exchange)) return;
    // A question without a run may have been sent, so the retry keeps its idempotency key.
    const isSame = !exchange.isGone && (exchange.runId === undefined || !exchange.answer.done);
    const next: Exchange = isSame
      ? { ...exchange, link: "opening" }
      : createExchange(key, exchange.question);
    this.#exchanges.replace(next);
    this.#follow(next);
    this.#ports.onChange();
  }

  /** Retries every exchange that waits for a token. */
  unlock(): void {
    for (const { key, link } of this.exchanges) if (link === "token_needed") this.retry(key);
  }

  /** Cancels the active runs; their streams then end. A run without an id is cancelled later. */
  stop(): void {
    if (!this.isBusy || this.#stopRequested) return;
    this.#stopRequested = true;
    for (const exchange of this.exchanges) {
      if (isActive(exchange) && exchange.runId) void this.#cancel(exchange.runId);
    }
    this.#ports.onChange();
  }

  /** Removes the conversation and cancels its runs, because no reader can see them any more. */
  clear(): void {
    for (const exchange of this.exchanges) {
      if (isActive(exchange) && exchange.runId) void this.#ports.api.cancel(exchange.runId);
    }
    this.dispose();
    this.#lifetime = new AbortController();
    this.#stopRequested = false;
    this.#notice = "";
    this.#exchanges.clear();
    this.#ports.onChange();
  }

  /** Closes every connection. The runs continue at the server. */
  dispose(): void {
    this.#lifetime.abort();
  }

  #follow(exchange: Exchange): void {
    const { key } = exchange;
    const { signal } = this.#lifetime;
    const task = {
      open: (connection: AbortSignal) => this.#opener.open(exchange, connection),
      isDone: () => this.#exchanges.find(key)?.answer.done !== undefined,
      onEvents: (events: readonly StreamedEvent[]) => this.#apply(key, events),
      onLink: (link: "open" | "reconnecting") => this.#exchanges.patch(key, { link }),
      pause: (ms: number) => this.#pause.pause(ms, signal),
      signal,
    };
    void followRun(task, this.#ports).then((end) => this.#end(key, end));
  }

  #apply(key: number, events: readonly StreamedEvent[]): void {
    const exchange = this.#exchanges.find(key);
    const lastEventId = events.at(-1)?.id;
    if (!exchange || lastEventId === undefined) return;
    const answer = events.flatMap((event) => event.chunks).reduce(applyChunk, exchange.answer);
    this.#exchanges.patch(key, { answer, lastEventId });
    if (answer.runId !== undefined) this.#opener.noteRun(key, answer.runId);
  }

  #end(key: number, end: FollowEnd): void {
    if (end.kind === "aborted") return;
    if (end.kind === "broken") this.#exchanges.patch(key, { link: "broken", problem: end.message });
    else if (end.kind === "token_needed" && !this.#ports.canAskForToken()) {
      this.#exchanges.patch(key, { link: "broken", problem: TOKEN_REFUSED });
    } else this.#exchanges.patch(key, { link: end.kind });
    if (!this.isBusy) this.#stopRequested = false;
    this.#ports.onChange();
  }

  async #cancel(runId: string): Promise<void> {
    this.#notice = "";
    const { signal } = this.#lifetime;
    const cancelled = await this.#ports.api.cancel(runId);
    this.hurry();
    if (cancelled.ok || signal.aborted || !this.isBusy) return;
    this.#stopRequested = false;
    this.#notice = `The answer could not be stopped. ${cancelled.failure.message}`;
    this.#ports.onChange();
  }
}

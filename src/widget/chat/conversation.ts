import { say } from "../texts/say.ts";
import type { StreamedEvent } from "../../wire/assistant-transport/read-chunks.ts";
import { applyChunk } from "./answer/apply-chunk.ts";
import type { ChatApi } from "./stream/api.ts";
import { type Exchange, isActive } from "./exchange/exchange.ts";
import { ExchangeList, type ExchangeListPorts } from "./exchange/exchange-list.ts";
import { type FollowEnd, type FollowPorts, followRun } from "./stream/follow-run.ts";
import { createReturnPause, type PausePorts } from "./stream/return-pause.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { AttachedFile } from "./files/attached-file.ts";
import { createSteering, type SteerPorts, type SteerRun } from "./stream/steer-run.ts";
import { StreamOpener } from "./stream/stream-opener.ts";
import { TOKEN_REFUSED, TurnLoader, type TurnLoaderPorts } from "./turn-loader.ts";

export interface ConversationPorts
  extends
    ExchangeListPorts,
    FollowPorts,
    PausePorts,
    SteerPorts,
    Pick<TurnLoaderPorts, "tools" | "canAskForToken"> {
  readonly api: ChatApi;
  /** Returns what the page knows; see docs/embedding.md. */
  readonly context?: () => JsonObject | undefined;
  /** Gets a question that was not asked, so that the reader keeps what they wrote. */
  readonly onReturned: (question: string, files: readonly AttachedFile[]) => void;
}

const MOVED = "Another device continued this chat. Read its message, then send yours again.";

/** Carries a conversation: it starts, follows, steers and cancels the runs of its exchanges. */
export class Conversation {
  readonly #ports: ConversationPorts;
  readonly #exchanges: ExchangeList;
  /** Loads what the server keeps. */
  readonly loader: TurnLoader;
  readonly #opener: StreamOpener;
  readonly #steer: SteerRun;
  readonly #pause: ReturnType<typeof createReturnPause>;
  #lifetime = new AbortController();
  #stopRequested = false;
  #notice = "";
  /** Steering messages that wait for the id of a run that just begins. */
  #steering: (() => void)[] = [];

  constructor(ports: ConversationPorts) {
    this.#ports = ports;
    this.#exchanges = new ExchangeList(ports);
    this.#steer = createSteering(ports);
    this.#pause = createReturnPause(ports);
    const { api, newKey, context } = ports;
    const onRun = (runId: string) => {
      this.#wakeSteering();
      if (this.#stopRequested) void this.#cancel(runId);
    };
    this.#opener = new StreamOpener(this.#exchanges, {
      api,
      newKey,
      onRun,
      ...(context && { context }),
    });
    this.loader = new TurnLoader(this.#exchanges, {
      ...ports,
      lifetime: () => this.#lifetime.signal,
      onRunning: (exchange) => this.#follow(exchange),
      onNotice: (notice) => (this.#notice = notice),
    });
  }

  /** The exchanges, of which one path is shown. */
  get list(): ExchangeList {
    return this.#exchanges;
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

  /** True while nothing works without another token of the reader. */
  get isLocked(): boolean {
    const isRefused = this.exchanges.some(({ link }) => link === "token_needed");
    return isRefused || this.loader.needsToken;
  }

  /** An error that belongs to no answer, or empty. */
  get notice(): string {
    return this.#notice;
  }

  /** Opens a conversation; without an id a new one. The run of the one before goes on. */
  async open(id?: string): Promise<void> {
    this.dispose();
    this.#lifetime = new AbortController();
    this.#stopRequested = false;
    this.#notice = "";
    this.#exchanges.open(id);
    this.#ports.onChange();
    if (id !== undefined) await this.loader.load("newest");
  }

  /** Shows the title that the person gave. */
  rename(title: string): void {
    this.#exchanges.title = title;
    this.#ports.onChange();
  }

  /** Looks whether another device continued the conversation. */
  lookForNews(): void {
    const { conversationId, nodes } = this.#exchanges;
    if (conversationId !== undefined && nodes.length > 0 && !this.isBusy) {
      void this.loader.load("news");
    }
  }

  ask(question: string, files: readonly AttachedFile[] = []): void {
    if (this.isBusy) return;
    this.#notice = "";
    this.#follow(this.#exchanges.add({ question, files }));
    this.#ports.onChange();
  }

  /** Asks beside an exchange: an edited question, or the same one for another answer. */
  branch(exchange: Exchange, question: string): void {
    if (this.isBusy) return;
    this.#notice = "";
    this.#follow(this.#exchanges.add({ question, files: exchange.files }, exchange));
    this.#ports.onChange();
  }

  /** Shows another branch: the newest path through an exchange. */
  show(key: number): void {
    this.#exchanges.show(key);
    this.#ports.onChange();
  }

  /**
   * Sends a steering message to the running answer, whose stream then shows the message. Returns
   * false when the message was not accepted; the text then stays in the message field.
   */
  async steer(message: string): Promise<boolean> {
    const { signal } = this.#lifetime;
    const runId = await this.#findRun(signal);
    if (runId === undefined) return false;
    this.#notice = "";
    const sent = await this.#steer(runId, message, signal);
    if (sent.ok) {
      this.hurry();
      return true;
    }
    if (!signal.aborted)
      this.#notice = say("The message was not sent. {why}", { why: sent.failure.message });
    this.#ports.onChange();
    return false;
  }

  /** Returns the running answer's run, once the server named it; undefined when none began. */
  async #findRun(signal: AbortSignal): Promise<string | undefined> {
    while (!signal.aborted) {
      const exchange = this.exchanges.findLast(isActive);
      if (!exchange || exchange.runId !== undefined) return exchange?.runId;
      await new Promise<void>((resolve) => this.#steering.push(resolve));
    }
    return undefined;
  }

  #wakeSteering(): void {
    for (const wake of this.#steering.splice(0)) wake();
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
    if (!isSame) return this.branch(exchange, exchange.question);
    this.#exchanges.patch(key, { link: "opening" });
    this.#follow({ ...exchange, link: "opening" });
    this.#ports.onChange();
  }

  /** Retries everything that waits for a token. */
  unlock(): void {
    this.loader.unlock();
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
    this.#noteEnd(key, end);
    this.#wakeSteering();
  }

  #noteEnd(key: number, end: FollowEnd): void {
    const exchange = this.#exchanges.find(key);
    if (end.kind === "aborted" || !exchange) return;
    if (end.kind === "moved") this.#giveBack(exchange);
    else if (end.kind === "broken") {
      this.#exchanges.patch(key, { link: "broken", problem: end.message });
    } else if (end.kind === "token_needed" && !this.#ports.canAskForToken()) {
      this.#exchanges.patch(key, { link: "broken", problem: say(TOKEN_REFUSED) });
    } else this.#exchanges.patch(key, { link: end.kind });
    if (!this.isBusy) this.#stopRequested = false;
    // A title that the person gave stays above one of a tool.
    if (exchange.answer.title !== undefined && this.#exchanges.title !== undefined) {
      this.lookForNews();
    }
    this.#ports.onChange();
  }

  /** Another device was faster: the page shows its turn, and the reader keeps the text. */
  #giveBack(exchange: Exchange): void {
    this.#exchanges.remove(exchange);
    this.#ports.onReturned(exchange.question, exchange.files ?? []);
    this.#notice = say(MOVED);
    void this.loader.load("newest");
  }

  async #cancel(runId: string): Promise<void> {
    this.#notice = "";
    const { signal } = this.#lifetime;
    const cancelled = await this.#ports.api.cancel(runId);
    this.hurry();
    if (cancelled.ok || signal.aborted || !this.isBusy) return;
    this.#stopRequested = false;
    this.#notice = say("The answer could not be stopped. {why}", {
      why: cancelled.failure.message,
    });
    this.#ports.onChange();
  }
}

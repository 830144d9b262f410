import { say } from "../texts/say.ts";
import type { ChatTools, LoadKind } from "./conversations/chat-tools.ts";
import type { Exchange } from "./exchange/exchange.ts";
import type { ExchangeList } from "./exchange/exchange-list.ts";
import type { SavedChat } from "../session-store.ts";
import type { ChatApi } from "./stream/api.ts";

export interface TurnLoaderPorts {
  readonly api: Pick<ChatApi, "newest">;
  /** Loads the tools that the first message does not need; undefined: they cannot be loaded. */
  readonly tools: () => Promise<ChatTools | undefined>;
  /** False where the page provides the token, so that the reader is not asked for one. */
  readonly canAskForToken: () => boolean;
  readonly onChange: () => void;
  /** Ends when another conversation takes the place of this one. */
  readonly lifetime: () => AbortSignal;
  /** Gets an exchange whose run goes on. */
  readonly onRunning: (exchange: Exchange) => void;
  readonly onNotice: (notice: string) => void;
}

export const TOKEN_REFUSED =
  "The server rejected this page's access token. Reload the page or sign in again.";
const UNSENT =
  "It is unknown whether this question was sent. Select Try again: the server asks it only once.";
const NOT_LOADED = "A part of this page could not be loaded. Reload the page.";

/** Loads what the server keeps of a conversation, at first the one that the page opens with. */
export class TurnLoader {
  readonly #exchanges: ExchangeList;
  readonly #ports: TurnLoaderPorts;
  #opened: Promise<void> = Promise.resolve();
  /** What waits for a token of the reader. */
  #later: (() => Promise<void>) | undefined;

  constructor(exchanges: ExchangeList, ports: TurnLoaderPorts) {
    this.#exchanges = exchanges;
    this.#ports = ports;
  }

  get needsToken(): boolean {
    return this.#later !== undefined;
  }

  /** Resolves once the page shows what it opens with. */
  get opened(): Promise<void> {
    return this.#opened;
  }

  /** Opens the chat of the tab, or else the newest conversation. */
  restore(find: () => Promise<SavedChat | undefined>): void {
    this.#opened = this.#restore(find);
  }

  /** Asks the reader for a token, which reading the list of chats needs. */
  requireToken(): void {
    this.#wait(() => Promise.resolve());
  }

  /** The tools of the chat; undefined, with a notice, when they cannot be loaded. */
  async tools(): Promise<ChatTools | undefined> {
    const { tools, onNotice, onChange } = this.#ports;
    const loaded = await tools();
    if (!loaded) onNotice(say(NOT_LOADED));
    // The caller uses the tools before the next frame draws.
    onChange();
    return loaded;
  }

  /** Goes on once the reader gave a token. */
  unlock(): void {
    const later = this.#later;
    this.#later = undefined;
    if (later) this.#opened = later();
  }

  async load(kind: LoadKind): Promise<void> {
    const { tools, lifetime, onRunning, onNotice, onChange } = this.#ports;
    const signal = lifetime();
    const end = await (await tools())?.load(this.#exchanges, kind, signal);
    if (signal.aborted) return;
    if (end?.kind === "loaded") for (const exchange of end.running) onRunning(exchange);
    else if (end?.kind === "token_needed") this.#wait(() => this.load(kind));
    else if (end?.kind === "gone") {
      this.#exchanges.open(undefined);
      onNotice(end.message);
    } else if (kind !== "news") onNotice(end?.message ?? say(NOT_LOADED));
    onChange();
  }

  async #restore(find: () => Promise<SavedChat | undefined>): Promise<void> {
    const { api, lifetime } = this.#ports;
    const signal = lifetime();
    const saved = await find();
    const newest = saved || signal.aborted ? undefined : await api.newest(signal);
    if (signal.aborted) return;
    if (newest && !newest.ok && newest.failure.code === "token_needed") {
      return this.#wait(() => this.#restore(find));
    }
    const id = saved?.conversationId ?? (newest?.ok ? newest.value : undefined);
    if (id !== undefined) {
      this.#exchanges.conversationId = id;
      await this.load("newest");
      if (this.#later) this.#later = () => this.#restore(find);
    }
    if (!signal.aborted && !this.#later) this.#restoreUnanswered(saved);
  }

  /** Shows the question of which nobody knows whether it was sent, unless its turn is there. */
  #restoreUnanswered({ unanswered }: SavedChat = {}): void {
    const list = this.#exchanges;
    const isKnown = list.nodes.some(({ request }) => request?.key === unanswered?.request.key);
    if (!unanswered || isKnown) return;
    const { question, request } = unanswered;
    list.patch(list.add({ question, files: request.files }).key, {
      request,
      link: "broken",
      problem: say(UNSENT),
    });
    list.save();
  }

  /** Waits for a token of the reader, where the page does not provide it. */
  #wait(later: () => Promise<void>): void {
    const { canAskForToken, onNotice, onChange } = this.#ports;
    if (canAskForToken()) this.#later = later;
    else onNotice(say(TOKEN_REFUSED));
    onChange();
  }
}

import { say } from "../../texts/say.ts";
import type { ChatApi, KeyedRequest } from "./api.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { ExchangeList } from "../exchange/exchange-list.ts";
import type { JsonObject } from "../../../protocol/json/value.ts";
import { fail } from "../../../protocol/outcome/result.ts";

const GONE = "The server no longer stores this answer. Select Try again to ask the question again.";

type Opened = Awaited<ReturnType<ChatApi["events"]>>;

export interface StreamOpenerPorts {
  readonly api: ChatApi;
  readonly newKey: () => string;
  /** Returns what the page knows, for the model to read as data. */
  readonly context?: () => JsonObject | undefined;
  /** Called when the run id of an exchange becomes known. */
  readonly onRun: (runId: string) => void;
}

/** Opens the event stream of an exchange: it starts the run, or continues the run's events. */
export class StreamOpener {
  readonly #exchanges: ExchangeList;
  readonly #ports: StreamOpenerPorts;

  constructor(exchanges: ExchangeList, ports: StreamOpenerPorts) {
    this.#exchanges = exchanges;
    this.#ports = ports;
  }

  /** Opens a stream. Contract: safe to repeat, because one question keeps one idempotency key. */
  async open({ key, question }: Exchange, signal: AbortSignal): Promise<Opened> {
    const { runId } = this.#exchanges.find(key) ?? {};
    if (runId !== undefined) return this.#openEvents(key, runId, signal);
    const started = await this.#start(key, question, signal);
    // The reader may have opened another conversation meanwhile.
    if (!started.ok || signal.aborted) return started;
    this.#exchanges.conversationId = started.value.conversationId ?? this.#exchanges.conversationId;
    if (started.value.runId === undefined) return started;
    this.noteRun(key, started.value.runId);
    return started.value.body ? started : this.#openEvents(key, started.value.runId, signal);
  }

  noteRun(key: number, runId: string): void {
    if (this.#exchanges.find(key)?.runId === runId) return;
    this.#exchanges.patch(key, { runId });
    this.#exchanges.save();
    this.#ports.onRun(runId);
  }

  async #openEvents(key: number, runId: string, signal: AbortSignal): Promise<Opened> {
    const { lastEventId } = this.#exchanges.find(key) ?? {};
    return this.#noteGone(key, await this.#ports.api.events(runId, { lastEventId, signal }));
  }

  /** Sends the question. When the conversation is gone, the question begins another one. */
  async #start(key: number, question: string, signal: AbortSignal): Promise<Opened> {
    const { api } = this.#ports;
    const known = this.#exchanges.find(key)?.request;
    const request = known ?? this.#newRequest(key);
    const started = await api.start(question, { request, signal });
    // After a repeated send, 410 may also mean that this question's own run is gone.
    const isOwnRun = known !== undefined || request.conversationId === undefined;
    if (isOwnRun) return this.#noteGone(key, started);
    if (started.ok || started.failure.code !== "gone" || signal.aborted) return started;
    this.#exchanges.patch(key, { hasLostHistory: true });
    this.#exchanges.conversationId = undefined;
    return api.start(question, { request: this.#newRequest(key), signal });
  }

  #newRequest(key: number): KeyedRequest {
    const context = this.#ports.context?.();
    const files = this.#exchanges.find(key)?.files;
    const request = {
      key: this.#ports.newKey(),
      ...(files && files.length > 0 && { files }),
      ...this.#placeOf(key),
      ...(context && { context }),
    };
    this.#exchanges.patch(key, { request });
    this.#exchanges.save();
    return request;
  }

  /**
   * Names the turn that a question continues. At the newest turn the server refuses it when another
   * device added one meanwhile; anywhere else it begins a branch.
   */
  #placeOf(key: number): Pick<KeyedRequest, "conversationId" | "previousRunId" | "parentId"> {
    const { conversationId, headId } = this.#exchanges;
    if (conversationId === undefined) return {};
    const before = this.#exchanges.runBefore(key);
    if (before !== headId) return { conversationId, parentId: before ?? "root" };
    return { conversationId, ...(headId !== undefined && { previousRunId: headId }) };
  }

  #noteGone(key: number, opened: Opened): Opened {
    if (opened.ok || opened.failure.code !== "gone") return opened;
    this.#exchanges.patch(key, { isGone: true });
    return fail({ ...opened.failure, message: say(GONE) });
  }
}

import type { JsonObject } from "../../../protocol/json/value.ts";
import type { AnswerState } from "../answer/answer.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { ExchangeList } from "../exchange/exchange-list.ts";
import type { ClientOptions } from "../../../client/ports.ts";
import type { ApprovalCard, ApprovalCardPorts } from "../../approval/card.ts";
import type { ApprovalInfo } from "../../approval/info.ts";
import type { ListFilter } from "../stream/api.ts";
import type { UndoApi } from "../undo/undo-api.ts";

/**
 * Which turns to load: the newest ones, to show the head; those before the loaded ones; or those
 * that another device added, as far as there are any.
 */
export type LoadKind = "newest" | "earlier" | "news";

/** How loading ended. `message` is for the reader. */
export type LoadEnd =
  /** `running`: exchanges whose runs go on. */
  | { readonly kind: "loaded"; readonly running: readonly Exchange[] }
  | { readonly kind: "token_needed" }
  /** `gone`: the reader has no such conversation. */
  | { readonly kind: "gone" | "failed"; readonly message: string };

/** The conversation, as far as the tools use it. */
export interface OpenChat {
  readonly list: ExchangeList;
  readonly isBusy: boolean;
  readonly loader: { requireToken(): void };
  open(id?: string): Promise<void>;
  rename(title: string): void;
  branch(exchange: Exchange, question: string): void;
  show(key: number): void;
}

/**
 * What a chat needs after its first message. It stands in a file of its own, so that the first
 * message waits for less.
 */
export interface ChatTools {
  /** Loads turns into the list. Contract: never throws; changes nothing after an abort. */
  load(list: ExchangeList, kind: LoadKind, signal: AbortSignal): Promise<LoadEnd>;
  /** Opens the list of the reader's chats over the chat, which gets the focus back. */
  openList(place: {
    readonly conversation: OpenChat;
    readonly chat: HTMLElement;
    readonly onClose: (isChosen: boolean) => void;
  }): void;
  /** Draws what the reader can do with a turn into its view: `root`. */
  drawTurn(conversation: OpenChat, exchange: Exchange, root: HTMLElement): void;
  /** Creates the card of an approval. */
  createCard(ports: Omit<ApprovalCardPorts, "api">, approval: ApprovalInfo): ApprovalCard;
}

/** What the tools use of the page. */
export interface ChatToolsPorts {
  readonly api: ClientOptions;
  readonly undo: UndoApi;
  /** Which chats are listed. */
  readonly filter: ListFilter;
  /** Adds the style sheets of the tools. */
  readonly addSheets: (...texts: readonly string[]) => void;
  /** Reads an answer from the chunks of a stream. */
  readonly readAnswer: (chunks: readonly JsonObject[]) => AnswerState;
}

import type { JsonObject } from "../../../protocol/json/value.ts";
import type { AnswerState } from "../answer/answer.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { ExchangeList } from "../exchange/exchange-list.ts";
import type { ApiOptions } from "../../api-request.ts";

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

/**
 * What a chat needs after its first message. It stands in a file of its own, so that the first
 * message waits for less.
 */
export interface ChatTools {
  /** Loads turns into the list. Contract: never throws; changes nothing after an abort. */
  load(list: ExchangeList, kind: LoadKind, signal: AbortSignal): Promise<LoadEnd>;
}

/** What the tools use of the page. */
export interface ChatToolsPorts {
  readonly api: ApiOptions;
  /** Reads an answer from the chunks of a stream. */
  readonly readAnswer: (chunks: readonly JsonObject[]) => AnswerState;
}

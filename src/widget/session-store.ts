import { isJsonObject } from "../protocol/json/value.ts";
import type { KeyedRequest } from "./chat/stream/api.ts";

/** The stored part of an exchange. The answer itself is read again from the run's events. */
export interface SavedExchange {
  readonly question: string;
  readonly runId?: string;
  /** The key of the question, so that a repeated request starts no second run. */
  readonly request?: KeyedRequest;
}

/** Keeps a conversation and its token until the tab is closed. Contract: never throws. */
export interface SessionStore {
  loadExchanges(): readonly SavedExchange[];
  saveExchanges(exchanges: readonly SavedExchange[]): void;
  loadToken(): string | undefined;
  saveToken(token: string): void;
}

/**
 * Opens a store: `name` keeps the token, `conversation` the exchanges. It is in the tab's session
 * storage, or in memory where session storage is blocked or full.
 */
export function openSessionStore(name: string, conversation: string): SessionStore {
  const memory = new Map<string, string>();
  const read = (key: string) => {
    try {
      return sessionStorage.getItem(key) ?? memory.get(key);
    } catch {
      return memory.get(key);
    }
  };
  const write = (key: string, value: string) => {
    memory.set(key, value);
    try {
      sessionStorage.setItem(key, value);
    } catch {
      // Without session storage only a reload loses the conversation.
    }
  };
  return {
    loadExchanges: () => parseExchanges(read(`${conversation}:turns`)),
    saveExchanges: (exchanges) => write(`${conversation}:turns`, JSON.stringify(exchanges)),
    loadToken: () => read(`${name}:token`) || undefined,
    saveToken: (token) => write(`${name}:token`, token),
  };
}

/** Other scripts of the page can write to session storage, so its content is checked. */
function parseExchanges(text: string | undefined): readonly SavedExchange[] {
  try {
    const value: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(value) ? value.flatMap(readExchange) : [];
  } catch {
    return [];
  }
}

function readExchange(value: unknown): readonly SavedExchange[] {
  if (!isJsonObject(value) || typeof value["question"] !== "string") return [];
  const { question, runId } = value;
  const request = readRequest(value["request"]);
  return [{ question, ...(typeof runId === "string" && { runId }), ...(request && { request }) }];
}

/** A key is sent as a header, so only header-safe characters are accepted. */
const KEY = /^[\w-]{16,64}$/;

function readRequest(value: unknown): KeyedRequest | undefined {
  const { key, previousRunId, conversationId, context } = isJsonObject(value) ? value : {};
  if (typeof key !== "string" || !KEY.test(key)) return undefined;
  return {
    key,
    ...(typeof previousRunId === "string" && { previousRunId }),
    ...(typeof conversationId === "string" && { conversationId }),
    ...(isJsonObject(context) && { context }),
  };
}

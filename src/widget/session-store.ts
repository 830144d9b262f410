import { isJsonObject } from "../protocol/json/value.ts";
import type { KeyedRequest } from "./chat/stream/api.ts";

import { readFiles } from "./chat/files/attached-file.ts";

/** What a tab stores of its chat. The turns are at the server. */
export interface SavedChat {
  /** Absent: the chat is new. */
  readonly conversationId?: string;
  /** The last question that no run answers so far, with its key. */
  readonly unanswered?: { readonly question: string; readonly request: KeyedRequest };
}

/** Keeps the open chat and the token until the tab is closed. Contract: never throws. */
export interface SessionStore {
  /** Undefined: the tab had no chat so far. */
  loadChat(): SavedChat | undefined;
  saveChat(chat: SavedChat): void;
  loadToken(): string | undefined;
  saveToken(token: string): void;
}

/**
 * Opens a store: `name` keeps the token, `chat` the open chat. It is in the tab's session storage,
 * or in memory where session storage is blocked or full.
 */
export function openSessionStore(name: string, chat: string): SessionStore {
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
      // Without session storage a reload opens the newest chat.
    }
  };
  return {
    loadChat: () => parseChat(read(`${chat}:chat`)),
    saveChat: (saved) => write(`${chat}:chat`, JSON.stringify(saved)),
    loadToken: () => read(`${name}:token`) || undefined,
    saveToken: (token) => write(`${name}:token`, token),
  };
}

/** Other scripts of the page can write to session storage, so its content is checked. */
function parseChat(text: string | undefined): SavedChat | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return isJsonObject(value) ? readChat(value) : undefined;
  } catch {
    return undefined;
  }
}

function readChat({ conversationId, unanswered }: Record<string, unknown>): SavedChat {
  const { question, request } = isJsonObject(unanswered) ? unanswered : {};
  const keyed = readRequest(request);
  return {
    ...(typeof conversationId === "string" && { conversationId }),
    ...(typeof question === "string" && keyed && { unanswered: { question, request: keyed } }),
  };
}

/** A key is sent as a header, so only header-safe characters are accepted. */
const KEY = /^[\w-]{16,64}$/;

function readRequest(value: unknown): KeyedRequest | undefined {
  const { key, previousRunId, parentId, conversationId, context, files } = isJsonObject(value)
    ? value
    : {};
  const attached = readFiles(files);
  if (typeof key !== "string" || !KEY.test(key)) return undefined;
  return {
    key,
    ...(typeof previousRunId === "string" && { previousRunId }),
    ...(typeof parentId === "string" && { parentId }),
    ...(typeof conversationId === "string" && { conversationId }),
    ...(isJsonObject(context) && { context }),
    ...(attached.length > 0 && { files: attached }),
  };
}

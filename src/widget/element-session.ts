import type { ApiOptions } from "../client/send-authorised.ts";
import { openSessionStore, type SessionStore } from "./session-store.ts";

/** Returns the access token of the embedding page, or undefined when the page has none. */
export type TokenSource = () => string | undefined | Promise<string | undefined>;

interface InterlockElement extends HTMLElement {
  getToken?: TokenSource | undefined;
}

/** How an element reaches its server, and what the tab stores for it. */
export interface ElementSession {
  readonly api: ApiOptions;
  readonly store: SessionStore;
  /** False where the page provides the token. */
  readonly canAskForToken: () => boolean;
}

/**
 * Opens the session of an element. Elements with the same `id` and `endpoint` share one token; each
 * assistant has a conversation of its own.
 */
export function openElementSession(element: InterlockElement): ElementSession {
  const baseUrl = resolveEndpoint(element.getAttribute("endpoint"));
  const name = `interlock-chat:${element.id}:${baseUrl}`;
  const assistantId = element.getAttribute("assistant");
  const store = openSessionStore(name, assistantId === null ? name : `${name}:${assistantId}`);
  const api = {
    fetch: (input: RequestInfo | URL, init?: RequestInit) => fetch(input, init),
    baseUrl,
    token: async () => (element.getToken ? element.getToken() : store.loadToken()),
  };
  return { api, store, canAskForToken: () => !element.getToken };
}

function resolveEndpoint(endpoint: string | null): string {
  const url = new URL(endpoint || "/", location.href);
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url.href;
}

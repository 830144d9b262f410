import { type CallPorts, toPorts } from "../client/ports.ts";
import { openSessionStore, type SessionStore } from "./session-store.ts";

/** Returns the access token of the embedding page, or undefined when the page has none. */
export type TokenSource = () => string | undefined | Promise<string | undefined>;

interface InterlockElement extends HTMLElement {
  getToken?: TokenSource | undefined;
}

/** How an element reaches its server, and what the tab stores for it. */
export interface ElementSession {
  readonly api: CallPorts;
  readonly store: SessionStore;
  /** False where the page provides the token. */
  readonly canAskForToken: () => boolean;
}

/**
 * Opens the session of an element. Elements with the same `id` and `endpoint` share one token; each
 * assistant has a conversation of its own.
 */
export function openElementSession(element: InterlockElement): ElementSession {
  const api = toPorts({
    baseUrl: new URL(element.getAttribute("endpoint") || "/", location.href),
    token: () => (element.getToken ? element.getToken() : store.loadToken()),
  });
  const name = `interlock-chat:${element.id}:${api.baseUrl}`;
  const assistantId = element.getAttribute("assistant");
  const store = openSessionStore(name, assistantId === null ? name : `${name}:${assistantId}`);
  return { api, store, canAskForToken: () => !element.getToken };
}

import { createChatSheets } from "./style-sheets.ts";
import { createApprovalsApi } from "./approval/api.ts";
import { type ChatApiOptions, createChatApi } from "./chat/api.ts";
import { type ChatView, createChatView } from "./chat/view.ts";
import { Conversation } from "./chat/conversation.ts";
import { endpointUrl } from "./endpoint-url.ts";
import { openSessionStore, type SessionStore } from "./chat/session-store.ts";
import type { TokenSource } from "./token-source.ts";

const sheets = createChatSheets();

/**
 * `<interlock-chat>`: a chat with an Interlock server. Attributes: `endpoint`, the server's address
 * (default: this origin); `takes-focus`. Property: `getToken`, for pages that hold the access token;
 * it is asked before each request, and once more after a refusal.
 * Contract: an element outside the document holds no connection.
 */
export class InterlockChat extends HTMLElement {
  static readonly observedAttributes = ["endpoint"];

  /** Declared, not initialised: a page may set it before this class is loaded. */
  declare getToken?: TokenSource | undefined;
  #conversation: Conversation | undefined;

  connectedCallback(): void {
    this.#start();
  }

  disconnectedCallback(): void {
    this.#conversation?.dispose();
    this.#conversation = undefined;
  }

  attributeChangedCallback(): void {
    if (this.#conversation) this.#start();
  }

  #start(): void {
    this.#conversation?.dispose();
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = sheets;
    const baseUrl = endpointUrl(this.getAttribute("endpoint"));
    const store = openSessionStore(`interlock-chat:${this.id}:${baseUrl}`);
    const conversation = this.#converse(baseUrl, store, () => schedule());
    const approvals = createApprovalsApi(this.#apiOptions(baseUrl, store));
    const view = createChatView(conversation, {
      approvals,
      onToken: (token) => store.saveToken(token),
    });
    const schedule = renderOncePerFrame(view);
    root.replaceChildren(view.root);
    this.#conversation = conversation;
    conversation.restore(store.loadTurns());
    view.render();
    if (this.hasAttribute("takes-focus")) view.focus();
  }

  #apiOptions(baseUrl: string, store: SessionStore): ChatApiOptions {
    return {
      fetch: (input, init) => fetch(input, init),
      baseUrl,
      token: async () => (this.getToken ? this.getToken() : store.loadToken()),
    };
  }

  #converse(baseUrl: string, store: SessionStore, onChange: () => void): Conversation {
    const api = createChatApi(this.#apiOptions(baseUrl, store));
    return new Conversation({
      api,
      wait,
      random: () => Math.random(),
      newKey,
      save: (turns) => store.saveTurns(turns),
      onChange,
      canAskForToken: () => !this.getToken,
    });
  }
}

/** However many pieces arrive between two frames, they are drawn once. */
function renderOncePerFrame(view: ChatView): () => void {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      view.render();
    });
  };
}

/** A key that nobody guesses; `randomUUID` is missing where a page came over plain HTTP. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Resolves after a time, or at once when aborted. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener("abort", finish);
    if (signal.aborted) finish();
  });
}

if (!customElements.get("interlock-chat")) customElements.define("interlock-chat", InterlockChat);

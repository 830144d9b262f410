import { createQueueApi } from "../../../src/widget/approval/queue-api.ts";
import { openElementSession, type TokenSource } from "../../../src/widget/element-session.ts";
import { createGameplanApi } from "./api.ts";
import { defineGameplanCards } from "./cards.ts";
import { GameplanPage } from "./page.ts";
import { InterlockChat } from "../../../src/widget/interlock-chat.ts";
import { createGameplanSheets } from "./style-sheets.ts";

const sheets = createGameplanSheets();
/** Attributes that the chat of the page gets from it. */
const PASSED_ON = [
  "endpoint",
  "assistant",
  "model",
  "tools",
  "connections",
  "workspace",
  "tokenless",
];

/**
 * `<interlock-gameplan>`: GamePlan's projects beside a chat. Attributes and properties are those of
 * `<interlock-chat>`, except `takes-focus` and `getContext`. The part of the address after `#` says
 * what is shown.
 * Contract: an element outside the document sends no requests.
 */
export class InterlockGameplan extends HTMLElement {
  static readonly observedAttributes = PASSED_ON;

  declare getToken?: TokenSource | undefined;
  #page: GameplanPage | undefined;

  connectedCallback(): void {
    this.#start();
  }

  disconnectedCallback(): void {
    this.#page?.dispose();
    this.#page = undefined;
  }

  attributeChangedCallback(): void {
    if (this.#page) this.#start();
  }

  #start(): void {
    this.#page?.dispose();
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = sheets;
    const chat = new InterlockChat();
    chat.id = this.id;
    for (const name of PASSED_ON) {
      const value = this.getAttribute(name);
      if (value !== null) chat.setAttribute(name, value);
    }
    // A page may set the property later.
    Object.defineProperty(chat, "getToken", { get: () => this.getToken });
    // The chat has the same session, so one token is enough for both.
    const { api, store, canAskForToken } = openElementSession(chat);
    const workspaceId = this.getAttribute("workspace") || undefined;
    const page = new GameplanPage({
      options: api,
      api: createGameplanApi(api, () => workspaceId),
      approvals: createQueueApi(api),
      chat,
      assistantId: this.getAttribute("assistant") || undefined,
      workspaceId,
      onToken: (token) => store.saveToken(token),
      canAskForToken,
    });
    chat.getContext = () => page.context;
    root.replaceChildren(page.root);
    this.#page = page;
    page.start();
  }
}

defineGameplanCards();
if (!customElements.get("interlock-gameplan")) {
  customElements.define("interlock-gameplan", InterlockGameplan);
}

import { createApprovalsApi } from "./approval/api.ts";
import { type ApprovalsView, createApprovalsView } from "./approval/view.ts";
import { createApprovalsSheets } from "./style-sheets.ts";
import { endpointUrl } from "./endpoint-url.ts";
import { openSessionStore } from "./chat/session-store.ts";
import type { TokenSource } from "./token-source.ts";

const sheets = createApprovalsSheets();

/**
 * `<interlock-approvals>`: the questions that wait for people, and one of them to decide. Attributes and
 * properties are those of `<interlock-chat>`; the part of the address after `#` names the open question.
 * Contract: an element outside the document asks for nothing.
 */
export class InterlockApprovals extends HTMLElement {
  static readonly observedAttributes = ["endpoint"];

  declare getToken?: TokenSource | undefined;
  #view: ApprovalsView | undefined;

  connectedCallback(): void {
    this.#start();
  }

  disconnectedCallback(): void {
    this.#view?.dispose();
    this.#view = undefined;
  }

  attributeChangedCallback(): void {
    if (this.#view) this.#start();
  }

  #start(): void {
    this.#view?.dispose();
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = sheets;
    const baseUrl = endpointUrl(this.getAttribute("endpoint"));
    // The chat of this tab and address keeps its token in the same place.
    const store = openSessionStore(`interlock-chat:${this.id}:${baseUrl}`);
    const api = createApprovalsApi({
      fetch: (input, init) => fetch(input, init),
      baseUrl,
      token: async () => (this.getToken ? this.getToken() : store.loadToken()),
    });
    const view = createApprovalsView(api, {
      onToken: (token) => store.saveToken(token),
      canAskForToken: () => !this.getToken,
    });
    root.replaceChildren(view.root);
    this.#view = view;
    view.start();
  }
}

if (!customElements.get("interlock-approvals")) {
  customElements.define("interlock-approvals", InterlockApprovals);
}

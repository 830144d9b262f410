import { createQueueApi } from "./approval/queue-api.ts";
import { ApprovalsView } from "./approval/view.ts";
import { createApprovalsSheets } from "./style-sheets.ts";
import { openElementSession } from "./element-session.ts";
import type { TokenSource } from "./api-request.ts";

const sheets = createApprovalsSheets();

/**
 * `<interlock-approvals>`: the approval queue, and one approval to decide. Attributes and
 * properties are those of `<interlock-chat>`. The part of the address after `#` is the id of the
 * open approval.
 * Contract: an element outside the document sends no requests.
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
    // A chat in the same tab with the same address uses the same stored token.
    const { api, store, canAskForToken } = openElementSession(this);
    const view = new ApprovalsView(createQueueApi(api), {
      onToken: (token) => store.saveToken(token),
      canAskForToken,
    });
    root.replaceChildren(view.root);
    this.#view = view;
    view.start();
  }
}

if (!customElements.get("interlock-approvals")) {
  customElements.define("interlock-approvals", InterlockApprovals);
}

import type { TokenSource } from "./api-request.ts";
import { openElementSession } from "./element-session.ts";
import { createRunsApi } from "./runs/api.ts";
import { RunsView } from "./runs/view.ts";
import { createRunsSheets } from "./style-sheets.ts";

const sheets = createRunsSheets();

/**
 * `<interlock-runs>`: the runs of a tenant, and what decided one of them. Attributes and properties
 * are those of `<interlock-chat>`. The part of the address after `#` is the id of the open run.
 * Contract: an element outside the document sends no requests.
 */
export class InterlockRuns extends HTMLElement {
  static readonly observedAttributes = ["endpoint"];

  declare getToken?: TokenSource | undefined;
  #view: RunsView | undefined;

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
    const { api, store, canAskForToken } = openElementSession(this);
    const view = new RunsView(createRunsApi(api), {
      onToken: (token) => store.saveToken(token),
      canAskForToken,
    });
    root.replaceChildren(view.root);
    this.#view = view;
    view.start();
  }
}

if (!customElements.get("interlock-runs")) customElements.define("interlock-runs", InterlockRuns);

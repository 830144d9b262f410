import type { ClientOptions } from "../../client/ports.ts";
import { openElementSession, type TokenSource } from "../element-session.ts";
import { prepareTexts } from "../texts/prepare-texts.ts";
import type { SignInPorts } from "./sign-in.ts";

/** What an element shows: a list, and the page of one of its entries. */
export interface PaneView {
  readonly root: HTMLElement;
  /** Begins to send requests. */
  start(): void;
  /** Ends what `start` began. */
  dispose(): void;
}

/**
 * An element whose reader signs in with a token and opens an entry of a list. Attributes and
 * properties are those of `<interlock-chat>`. The part of the address after `#` names what is open.
 * Contract: an element outside the document sends no requests.
 */
export abstract class PaneElement extends HTMLElement {
  static readonly observedAttributes = ["endpoint", "lang"];

  declare getToken?: TokenSource | undefined;
  #view: PaneView | undefined;
  #preparing: Promise<void> | undefined;

  protected abstract readonly sheets: CSSStyleSheet[];
  protected abstract createView(api: ClientOptions, ports: SignInPorts): PaneView;

  connectedCallback(): void {
    this.#prepare();
  }

  disconnectedCallback(): void {
    this.#view?.dispose();
    this.#view = undefined;
  }

  attributeChangedCallback(): void {
    if (this.#view) this.#prepare();
  }

  /** Starts once the texts of the page are there. */
  #prepare(): void {
    const lang = this.closest("[lang]")?.getAttribute("lang") ?? "";
    const preparing = prepareTexts(lang, undefined);
    this.#preparing = preparing;
    if (preparing) void this.#startAfter(preparing);
    else this.#start();
  }

  async #startAfter(preparing: Promise<void>): Promise<void> {
    await preparing;
    if (this.#preparing === preparing && this.isConnected) this.#start();
  }

  #start(): void {
    this.#view?.dispose();
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = this.sheets;
    // A chat in the same tab with the same address uses the same stored token.
    const { api, store, canAskForToken } = openElementSession(this);
    const onToken = (token: string): void => store.saveToken(token);
    const view = this.createView(api, { onToken, canAskForToken });
    root.replaceChildren(view.root);
    this.#view = view;
    view.start();
  }
}

/** Registers an element, unless the page has it already. */
export function defineElement(name: string, element: CustomElementConstructor): void {
  if (!customElements.get(name)) customElements.define(name, element);
}

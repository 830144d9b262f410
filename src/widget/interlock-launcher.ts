import type { InterlockChat } from "./interlock-chat.ts";
import { CLOSE_ICON, createButton, el, icon, setText } from "./dom.ts";
import style from "./launcher/launcher.css";
import { textsOfLauncher } from "./launcher/launcher-texts.ts";

const BUBBLE_ICON = "M4 4.5h12v8.5H9l-3.5 3V13H4z";

/**
 * `<interlock-launcher>`: a button at the corner of the page that opens the `<interlock-chat>` in
 * it. The chat is loaded when the reader is about to open it, so a page pays for little more than
 * the button. Attributes: `mode` (`bubble` or `panel`), `side` (`end` or `start`), `label`, `open`,
 * `scheme` and `lang`. Methods: `open`, `close`, `send` and `newChat`.
 */
export class InterlockLauncher extends HTMLElement {
  /** The address of the file that defines the chat. */
  static source = "";

  readonly #root = this.attachShadow({ mode: "open" });
  readonly #bubble = createButton("bubble", "");
  readonly #badge = el("span", { class: "badge", part: "badge", hidden: "" });
  readonly #problem = el("p", { class: "problem", role: "alert", hidden: "" });
  readonly #window = el("div", { class: "window", part: "window", role: "dialog", hidden: "" });
  #loading: Promise<InterlockChat> | undefined;

  constructor() {
    super();
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    this.#root.adoptedStyleSheets = [sheet];
    const own = el("slot", { name: "icon" });
    own.append(icon(BUBBLE_ICON));
    const opened = icon(CLOSE_ICON);
    opened.classList.add("close-icon");
    this.#bubble.append(own, opened, this.#badge);
    this.#bubble.part.add("bubble");
    this.#window.append(this.#problem, el("slot"));
    this.#root.append(this.#window, this.#bubble);
    this.#bubble.addEventListener("click", () => (this.isOpen ? this.close() : void this.open()));
    for (const intent of ["pointerenter", "focus"]) {
      this.#bubble.addEventListener(intent, () => void this.#load().catch(() => undefined));
    }
    this.#window.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented) this.close();
    });
  }

  connectedCallback(): void {
    this.#chat?.addEventListener("close", this.#close);
    this.#chat?.addEventListener("run", this.#note);
    this.#chat?.setAttribute("closable", "");
    this.#name();
    const kept = readKept();
    // Nobody asked for the chat just now, so it does not take the focus.
    if (kept === "open" || (kept === undefined && this.hasAttribute("open"))) this.#show();
  }

  /** True while the reader sees the chat. */
  get isOpen(): boolean {
    return !this.#window.hidden;
  }

  /** Opens the chat, and puts the cursor into its message field. */
  async open(): Promise<void> {
    this.#show();
    const chat = await this.#load().catch(() => undefined);
    if (this.isOpen) chat?.focus();
  }

  /** Closes the chat. Its answer goes on. */
  close(): void {
    if (!this.isOpen) return;
    this.#window.hidden = true;
    this.#name();
    keep("closed");
    this.#bubble.focus();
  }

  /** Opens the chat and sends a message, as the reader would. Returns whether it was accepted. */
  async send(message: string): Promise<boolean> {
    this.#show();
    return (await this.#load()).send(message);
  }

  /** Opens the chat with an empty conversation. */
  async newChat(): Promise<void> {
    this.#show();
    await (await this.#load()).newChat();
  }

  get #chat(): HTMLElement | null {
    return this.querySelector("interlock-chat");
  }

  #show(): void {
    this.#window.hidden = false;
    this.#badge.hidden = true;
    this.#name();
    keep("open");
    void this.#load().catch(() => undefined);
  }

  /** Loads the chat. After a failure the next try loads it again. */
  #load(): Promise<InterlockChat> {
    this.#loading ??= this.#import();
    this.#loading.catch(() => {
      this.#loading = undefined;
      this.#problem.hidden = false;
      setText(this.#problem, textsOfLauncher(this).failed);
    });
    return this.#loading;
  }

  async #import(): Promise<InterlockChat> {
    await import(InterlockLauncher.source);
    await customElements.whenDefined("interlock-chat");
    this.#problem.hidden = true;
    return this.#chat as InterlockChat;
  }

  readonly #close = (): void => this.close();

  /** Marks the button when something happened out of the reader's sight. */
  readonly #note = (event: Event): void => {
    const { state } = (event as CustomEvent<{ readonly state: string }>).detail;
    if (this.isOpen || state === "started") return;
    this.#badge.hidden = false;
    this.#name();
  };

  #name(): void {
    const texts = textsOfLauncher(this);
    const label = this.getAttribute("label") || texts.label;
    this.#window.setAttribute("aria-label", label);
    this.#bubble.setAttribute("aria-label", this.#badge.hidden ? label : `${label}: ${texts.news}`);
    this.#bubble.setAttribute("aria-expanded", String(this.isOpen));
    this.toggleAttribute("data-open", this.isOpen);
  }
}

const KEPT = "interlock-launcher";

/** The tab keeps the chat open from page to page. */
function readKept(): string | undefined {
  try {
    return sessionStorage.getItem(KEPT) ?? undefined;
  } catch {
    return undefined;
  }
}

function keep(state: "open" | "closed"): void {
  try {
    sessionStorage.setItem(KEPT, state);
  } catch {
    // Without session storage each page begins as its attributes say.
  }
}

if (!customElements.get("interlock-launcher")) {
  customElements.define("interlock-launcher", InterlockLauncher);
}

import { say } from "../texts/say.ts";
import { createButton, el } from "../dom.ts";

/** What keys do on the desk. */
export interface KeyActions {
  /** Moves to another entry of the list. */
  step(by: number): void;
  /** Goes back to the list. */
  back(): void;
  search(): void;
  /** Shows a list by its place, from 1. */
  show(place: number): void;
  /** Presses the button of the open entry that has this key. */
  press(key: "a" | "r"): void;
  /** Says what `a` and `r` do in the list that is shown. */
  names(): readonly [a: string, r: string];
}

const STORED = "interlock-desk:keys";

/**
 * The keys of the desk, and the table that shows them. A single letter can be spoken or slip, so
 * the reader can turn the keys off (WCAG 2.2, 2.1.4).
 * Contract: no key acts while the reader types, and a held key decides nothing.
 */
export class Keyboard {
  readonly root = el("dialog", { class: "keys", "aria-label": say("Keys") });
  readonly button = createButton("", say("Keys"));
  readonly #host: HTMLElement;
  readonly #actions: KeyActions;
  readonly #switch = el("input", { type: "checkbox", id: "keys-on" });
  readonly #listener = (event: KeyboardEvent): void => this.#accept(event);

  constructor(host: HTMLElement, actions: KeyActions) {
    this.#host = host;
    this.#actions = actions;
    this.#switch.checked = readStored() !== "off";
    this.#switch.addEventListener("change", () => store(this.#switch.checked ? "on" : "off"));
    this.button.addEventListener("click", () => this.#open());
  }

  start(): void {
    window.addEventListener("keydown", this.#listener);
  }

  dispose(): void {
    window.removeEventListener("keydown", this.#listener);
  }

  #accept(event: KeyboardEvent): void {
    const { key, altKey, ctrlKey, metaKey, isComposing, repeat } = event;
    const [target] = event.composedPath();
    const isOurs = event.composedPath().includes(this.#host);
    if (altKey || ctrlKey || metaKey || isComposing || this.root.open || event.defaultPrevented) {
      return;
    }
    if ((!isOurs && target !== document.body) || isTyping(target)) return;
    if (key === "?") return this.#do(event, () => this.#open());
    if (!this.#switch.checked) return;
    if (key === "j" || key === "k") {
      return this.#do(event, () => this.#actions.step(key === "j" ? 1 : -1));
    }
    if (key === "/") return this.#do(event, () => this.#actions.search());
    if (key === "u" || key === "Escape") return this.#do(event, () => this.#actions.back());
    if (/^[1-4]$/.test(key)) return this.#do(event, () => this.#actions.show(Number(key)));
    if ((key === "a" || key === "r") && isOurs && !repeat) {
      this.#do(event, () => this.#actions.press(key));
    }
  }

  #do(event: Event, action: () => void): void {
    event.preventDefault();
    action();
  }

  #open(): void {
    const [a, r] = this.#actions.names();
    const rows = [
      ["j, k", say("next and previous entry")],
      ["Enter", say("open the entry")],
      ["u, Escape", say("back to the list")],
      ["a", a],
      ["r", r],
      [say("1 to 4"), say("another list")],
      ["/", say("search what is loaded")],
      ["?", say("this table")],
    ] as const;
    const table = rows.map(([keys, does]) =>
      el("div", {}, el("dt", {}, el("kbd", {}, keys)), el("dd", {}, does)),
    );
    const close = createButton("primary", say("Close"));
    close.addEventListener("click", () => this.root.close());
    const use = el("label", { for: "keys-on" }, say("Use these keys"));
    this.root.replaceChildren(
      el("h2", {}, say("Keys")),
      el("dl", {}, ...table),
      el("div", { class: "choice" }, this.#switch, use),
      el("div", { class: "row" }, close),
    );
    this.root.showModal();
  }
}

function isTyping(target: EventTarget | undefined): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const isTextless = target instanceof HTMLInputElement && /checkbox|radio/.test(target.type);
  return !isTextless && target.matches("input, textarea, select, [contenteditable]");
}

function readStored(): string | null {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

function store(value: string): void {
  try {
    localStorage.setItem(STORED, value);
  } catch {
    // Without storage the choice lasts until the page is left.
  }
}

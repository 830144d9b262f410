import { say } from "../texts/say.ts";
import { el } from "../dom.ts";
import type { Entry } from "./queue-spec.ts";

export interface EntryListPorts {
  readonly onOpen: (id: string) => void;
  readonly onSelect: () => void;
}

/**
 * Lists entries. Those that may be decided together can be selected.
 * Contract: an entry that did not change keeps its element, and so the focus.
 */
export class EntryList {
  readonly root: HTMLElement;
  readonly #ports: EntryListPorts;
  readonly #items: HTMLUListElement;
  readonly #none: HTMLElement;
  readonly #selected = new Set<string>();
  /** By what each entry shows. */
  #drawn = new Map<string, HTMLElement>();
  #entries: readonly Entry[] = [];
  #openId = "";

  constructor(words: { readonly title: string; readonly none: string }, ports: EntryListPorts) {
    this.#ports = ports;
    this.#items = el("ul", { "aria-label": words.title });
    this.#none = el("p", { class: "note", hidden: "" }, words.none);
    this.root = el("div", { class: "queue" }, this.#none, this.#items);
  }

  /** The ids of the entries to decide together. */
  get selected(): readonly string[] {
    return this.#entries.map(({ id }) => id).filter((id) => this.#selected.has(id));
  }

  /** Shows entries. `isMore`: the server may have others. */
  show(entries: readonly Entry[], isMore: boolean): void {
    this.#entries = entries;
    const selectable = new Set(entries.flatMap(({ id, canSelect }) => (canSelect ? [id] : [])));
    for (const id of this.#selected) if (!selectable.has(id)) this.#selected.delete(id);
    this.#none.hidden = entries.length > 0 || isMore;
    const known = this.#drawn;
    const focusedId = this.#focusedId();
    this.#drawn = new Map(
      entries.map((entry) => {
        const key = JSON.stringify(entry);
        return [key, known.get(key) ?? this.#draw(entry)];
      }),
    );
    const items = [...this.#drawn.values()];
    const isSame =
      items.length === this.#items.childElementCount &&
      items.every((item, at) => item === this.#items.children[at]);
    if (!isSame) this.#items.replaceChildren(...items);
    this.mark(this.#openId);
    // A node that is moved loses the focus.
    if (focusedId !== undefined && this.#focusedId() === undefined) this.focus(focusedId);
  }

  /** Marks the open entry. */
  mark(id: string): void {
    this.#openId = id;
    for (const button of this.#buttons) {
      if (button.dataset["entry"] === id) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }

  /** Moves the focus to an entry: the open one unless said. */
  focus(id = this.#openId): void {
    this.#buttons.find((button) => button.dataset["entry"] === id)?.focus();
  }

  /** Moves the focus by some entries, from the focused or the open one. Tells whether it moved. */
  step(by: number): boolean {
    const buttons = this.#buttons;
    const from = this.#focusedId() ?? this.#openId;
    const at = buttons.findIndex((button) => button.dataset["entry"] === from);
    const next = buttons[at < 0 ? 0 : Math.min(buttons.length - 1, Math.max(0, at + by))];
    next?.focus();
    return next !== undefined;
  }

  get #buttons(): readonly HTMLButtonElement[] {
    return [...this.#items.querySelectorAll<HTMLButtonElement>("[data-entry]")];
  }

  #focusedId(): string | undefined {
    return this.#items.querySelector<HTMLElement>("[data-entry]:focus")?.dataset["entry"];
  }

  #draw({ id, name, facts, risk, status, canSelect }: Entry): HTMLElement {
    const marks = risk ? [el("span", { class: "risk" }, risk.label)] : [];
    const told = facts.map((fact) => el("bdi", {}, fact));
    const summary = el("span", { class: "entry-facts" }, ...marks, ...told);
    const button = el(
      "button",
      { type: "button", "data-entry": id },
      el("bdi", { class: "name" }, name),
      summary,
    );
    button.addEventListener("click", () => this.#ports.onOpen(id));
    const item = el("li", {
      ...(risk && { "data-risk": risk.className }),
      ...(status !== undefined && { "data-status": status }),
    });
    if (canSelect) item.append(this.#drawBox(id, name));
    item.append(button);
    return item;
  }

  #drawBox(id: string, name: string): HTMLElement {
    const box = el("input", { type: "checkbox", "aria-label": say("Select {name}", { name }) });
    box.checked = this.#selected.has(id);
    box.addEventListener("change", () => {
      if (box.checked) this.#selected.add(id);
      else this.#selected.delete(id);
      this.#ports.onSelect();
    });
    return box;
  }
}

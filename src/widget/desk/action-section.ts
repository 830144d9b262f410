import { createButton, el, setText } from "../dom.ts";
import type { Result } from "../../protocol/outcome/result.ts";
import type { ApprovalFailure } from "../approval/api.ts";

/** What an entry shows: its name, and facts below it, a line each. */
export interface ActionEntry {
  readonly name: string;
  readonly facts: readonly string[];
}

/** A list whose entries have one action each. */
export interface ActionList<Item> {
  readonly title: string;
  readonly read: () => Promise<Result<readonly Item[], ApprovalFailure>>;
  readonly describe: (item: Item) => ActionEntry;
  /** The words of the button, and of what it did. */
  readonly label: string;
  readonly done: string;
  readonly act: (item: Item) => Promise<Result<unknown, ApprovalFailure>>;
}

/**
 * Shows a list whose entries have one action each. Contract: hidden without an entry, and for a
 * reader who may not read the list. An entry that did not change stays, so that it keeps the focus.
 */
export class ActionSection<Item> {
  readonly root: HTMLElement;
  readonly #list: ActionList<Item>;
  readonly #items = el("ul", {});
  readonly #notice = el("p", { class: "note", role: "status", tabindex: "-1" });
  /** By what it shows. */
  #shown = new Map<string, HTMLElement>();
  #requests = 0;

  constructor(list: ActionList<Item>) {
    this.#list = list;
    this.root = el("section", { class: "outcomes", "aria-label": list.title, hidden: "" });
    this.root.append(el("h2", {}, list.title), this.#items, this.#notice);
  }

  /** Reads the list again. */
  async refresh(): Promise<void> {
    const own = ++this.#requests;
    const answer = await this.#list.read();
    if (own !== this.#requests) return;
    const all = (answer.ok ? answer.value : []).map((one) => [JSON.stringify(one), one] as const);
    const known = this.#shown;
    this.#shown = new Map(all.map(([key, one]) => [key, known.get(key) ?? this.#draw(one)]));
    const isSame = all.length === known.size && all.every(([key]) => known.has(key));
    if (!isSame) this.#items.replaceChildren(...this.#shown.values());
    this.root.hidden = all.length === 0 && this.#notice.textContent === "";
  }

  #draw(item: Item): HTMLElement {
    const { name, facts } = this.#list.describe(item);
    const button = createButton("", this.#list.label);
    button.addEventListener("click", () => {
      button.disabled = true;
      void this.#act(item).finally(() => (button.disabled = false));
    });
    const lines = facts.map((fact) => el("p", { class: "entry-facts" }, el("bdi", {}, fact)));
    const row = el("div", { class: "row" }, button);
    return el("li", {}, el("bdi", { class: "name" }, name), ...lines, row);
  }

  async #act(item: Item): Promise<void> {
    const answer = await this.#list.act(item);
    setText(this.#notice, answer.ok ? this.#list.done : answer.failure.message);
    await this.refresh();
    this.#notice.focus();
  }
}

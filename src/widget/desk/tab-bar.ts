import { say } from "../texts/say.ts";
import { el, setText } from "../dom.ts";
import type { DeskTab } from "./queue-tab.ts";

/** Shows the tabs with their counts. Arrow keys move between them. */
export class TabBar {
  readonly root = el("div", { role: "tablist", class: "tabs", "aria-label": say("Lists") });
  readonly #tabs: readonly DeskTab[];
  readonly #buttons: readonly HTMLButtonElement[];

  constructor(tabs: readonly DeskTab[], onSelect: (tab: DeskTab) => void) {
    this.#tabs = tabs;
    this.#buttons = tabs.map((tab) => {
      const { name, title } = tab.spec;
      const attributes = { role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}` };
      const button = el("button", { type: "button", ...attributes }, title, " ");
      button.append(el("span", { class: "count" }));
      button.addEventListener("click", () => onSelect(tab));
      return button;
    });
    this.root.append(...this.#buttons);
    this.root.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const seen = this.#buttons.filter(({ hidden }) => !hidden);
      const from = seen.indexOf(event.target as HTMLButtonElement);
      if (by === undefined || from < 0) return;
      const next = seen[(from + by + seen.length) % seen.length];
      next?.focus();
      next?.click();
    });
  }

  draw(active: DeskTab): void {
    this.#tabs.forEach((tab, at) => {
      const button = this.#buttons[at];
      const count = button?.querySelector<HTMLElement>(".count");
      if (!button || !count) return;
      const isActive = tab === active;
      button.setAttribute("aria-selected", String(isActive));
      button.tabIndex = isActive ? 0 : -1;
      // A reader without the right to a list has no use for its tab.
      button.hidden = !isActive && (tab.isForbidden || (at > 1 && tab.count === ""));
      setText(count, tab.count);
      tab.root.hidden = !isActive;
    });
  }
}

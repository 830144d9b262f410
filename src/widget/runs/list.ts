import type { RunSummary } from "../../protocol/run/summary.ts";
import { toVisible } from "../../protocol/text/visible.ts";
import { say } from "../texts/say.ts";
import { el, setText } from "../dom.ts";
import { formatTime, RUN_STATES, wordsOf } from "./labels.ts";

const NONE = "No run fits these filters.";
/** A page looks at some runs only. */
const NONE_SO_FAR = "None of the newest runs fits. “Show more” looks at older ones.";

/** Lists runs, the newest first. */
export class RunsList {
  readonly root: HTMLElement;
  readonly #onOpen: (runId: string) => void;
  readonly #items = el("ul", { "aria-label": say("Runs") });
  readonly #none = el("p", { class: "note", role: "status", hidden: "" });
  #shown: readonly RunSummary[] = [];
  #openId = "";

  constructor(onOpen: (runId: string) => void) {
    this.#onOpen = onOpen;
    this.root = el("div", { class: "queue" }, this.#none, this.#items);
  }

  /** Shows a page of the list: after the earlier pages when `isMore`, otherwise alone. */
  show(
    runs: readonly RunSummary[],
    { isMore, hasNext }: Readonly<Record<"isMore" | "hasNext", boolean>>,
  ): void {
    const known = new Set(this.#shown.map(({ runId }) => runId));
    const added = runs.filter(({ runId }) => !known.has(runId));
    this.#shown = isMore ? [...this.#shown, ...added] : runs;
    this.#items.replaceChildren(...this.#shown.map((run) => this.#drawItem(run)));
    this.#none.hidden = this.#shown.length > 0;
    setText(this.#none, say(hasNext ? NONE_SO_FAR : NONE));
  }

  /** Marks the open run. */
  mark(runId: string): void {
    this.#openId = runId;
    for (const entry of this.#items.querySelectorAll<HTMLElement>("button")) {
      if (entry.dataset["run"] === runId) entry.setAttribute("aria-current", "true");
      else entry.removeAttribute("aria-current");
    }
  }

  focus(): void {
    this.#items.querySelector<HTMLElement>('[aria-current="true"]')?.focus();
  }

  #drawItem(run: RunSummary): HTMLElement {
    const { runId, status, title, call, model, actorId, subjectId, createdAt } = run;
    const name = title ?? call?.toolId ?? model;
    const who = subjectId ?? actorId;
    const state = el(
      "span",
      { class: "state", "data-status": status },
      wordsOf(RUN_STATES, status),
    );
    const facts = el("span", { class: "entry-facts" }, state, bdi(who), formatTime(createdAt));
    const entry = el("button", { type: "button", "data-run": runId }, bdi(name, "name"), facts);
    if (runId === this.#openId) entry.setAttribute("aria-current", "true");
    entry.addEventListener("click", () => this.#onOpen(runId));
    return el("li", {}, entry);
  }
}

/** Threat: a title, which a model wrote, turns the direction of the texts around it. */
function bdi(text: string, className = ""): HTMLElement {
  return el("bdi", className ? { class: className } : {}, toVisible(text).text);
}

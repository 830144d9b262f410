import { say } from "../texts/say.ts";
import { el, setText } from "../dom.ts";
import type { PageTexts } from "./page-texts.ts";

export interface EmptyState {
  readonly root: HTMLElement;
  /** Shows the texts of the assistant. Absent ones keep the page's own. */
  update(texts: PageTexts): void;
}

/** Creates what an empty conversation shows: a heading, and questions to pick from. */
export function createEmptyState(onPick: (question: string) => void): EmptyState {
  const heading = el("h2", {}, say("What would you like to know?"));
  const lead = el("p", {}, say("Each answer shows the tools that it used."));
  const list = el("ul", { "aria-label": say("Suggestions"), hidden: "" });
  // What the page puts into the slot stands in place of all of it.
  const slot = el("slot", { name: "empty" }, heading, lead, list);
  return {
    root: el("div", { class: "empty", part: "empty" }, slot),
    update({ heading: text, suggestions }) {
      if (text !== undefined) setText(heading, text);
      list.hidden = suggestions.length === 0;
      list.replaceChildren(...suggestions.map((question) => createSuggestion(question, onPick)));
    },
  };
}

function createSuggestion(question: string, onPick: (question: string) => void): HTMLElement {
  const button = el("button", { type: "button", part: "suggestion" }, question);
  button.addEventListener("click", () => onPick(question));
  return el("li", {}, button);
}

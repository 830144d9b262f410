import { el } from "../dom.ts";

const EXAMPLES = [
  "What time is it in Tokyo?",
  "Time in Tokyo and in New York",
  "What is 12.5% of 480?",
  "Plan a call with Tokyo",
  "Tell me a long story",
];

/** Creates what an empty conversation shows: example questions to pick from. */
export function createEmptyState(onPick: (question: string) => void): HTMLElement {
  const examples = EXAMPLES.map((example) => {
    const button = el("button", { type: "button" }, example);
    button.addEventListener("click", () => onPick(example));
    return el("li", {}, button);
  });
  const heading = el("h2", {}, "What would you like to know?");
  const lead = el("p", {}, "Each answer shows the tools that it used.");
  const list = el("ul", { "aria-label": "Examples" }, ...examples);
  return el("div", { class: "empty" }, heading, lead, list);
}

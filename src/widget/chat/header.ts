import type { Exchange } from "./exchange/exchange.ts";
import { el, icon, setText } from "../dom.ts";

const UNTITLED = "New conversation";

/** What the model called the conversation; else the first line of its first question. */
function titleOf(exchanges: readonly Exchange[]): string {
  const given = exchanges.find(({ answer }) => answer.title)?.answer.title;
  const [question = ""] = exchanges[0]?.question.trim().split("\n", 1) ?? [];
  return given ?? (question || UNTITLED);
}

/** Creates the header: title, model and the New chat button. */
export function createHeader(onNew: () => void) {
  const title = el("h1", {}, UNTITLED);
  const model = el("p", { class: "model" });
  const button = el("button", { type: "button", class: "new" }, icon("M10 4v12M4 10h12"));
  button.append(el("span", {}, "New chat"));
  button.addEventListener("click", onNew);
  return {
    root: el("header", {}, el("div", {}, title, model), button),
    update(exchanges: readonly Exchange[]) {
      setText(title, titleOf(exchanges));
      setText(model, exchanges.findLast(({ answer }) => answer.model)?.answer.model ?? "");
      button.hidden = exchanges.length === 0;
    },
  };
}

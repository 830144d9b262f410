import type { ExchangeList } from "./exchange/exchange-list.ts";
import { el, icon, setText } from "../dom.ts";

const UNTITLED = "New conversation";

/** What the person or the model called the conversation; else the first line of its question. */
function titleOf({ title, all }: ExchangeList): string {
  const given = title ?? all.findLast(({ answer }) => answer.title)?.answer.title;
  const [question = ""] = all[0]?.question.trim().split("\n", 1) ?? [];
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
    update(list: ExchangeList) {
      setText(title, titleOf(list));
      setText(model, list.all.findLast(({ answer }) => answer.model)?.answer.model ?? "");
      button.hidden = list.all.length === 0;
    },
  };
}

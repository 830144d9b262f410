import type { ExchangeList } from "./exchange/exchange-list.ts";
import { createButton, el, icon, setText } from "../dom.ts";

const UNTITLED = "New conversation";

/** What the person or the model called the conversation; else the first line of its question. */
function titleOf({ title, all }: ExchangeList): string {
  const given = title ?? all.findLast(({ answer }) => answer.title)?.answer.title;
  const [question = ""] = all[0]?.question.trim().split("\n", 1) ?? [];
  return given ?? (question || UNTITLED);
}

/** Creates the header: title, model, and the buttons of the list of chats and of a new one. */
export function createHeader(onNew: () => void, onList: () => void) {
  const chats = createButton("chats-button", "");
  chats.append(icon("M4 5.5h12M4 10h12M4 14.5h8"));
  chats.setAttribute("aria-label", "Chats");
  chats.addEventListener("click", onList);
  const title = el("h1", {}, UNTITLED);
  const model = el("p", { class: "model" });
  const button = createButton("new", "");
  button.append(icon("M10 4v12M4 10h12"), el("span", {}, "New chat"));
  button.addEventListener("click", onNew);
  return {
    root: el("header", {}, chats, el("div", {}, title, model), button),
    chats,
    update(list: ExchangeList) {
      setText(title, titleOf(list));
      setText(model, list.all.findLast(({ answer }) => answer.model)?.answer.model ?? "");
      button.hidden = list.all.length === 0;
    },
  };
}

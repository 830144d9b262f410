import { say } from "../texts/say.ts";
import type { ExchangeList } from "./exchange/exchange-list.ts";
import { CLOSE_ICON, createButton, el, icon, setText } from "../dom.ts";

const UNTITLED = "New conversation";

/** What the person or the model called the conversation; else the first line of its question. */
function titleOf({ title, all }: ExchangeList): string {
  const given = title ?? all.findLast(({ answer }) => answer.title)?.answer.title;
  const [question = ""] = all[0]?.question.trim().split("\n", 1) ?? [];
  return given ?? (question || say(UNTITLED));
}

export interface HeaderActions {
  readonly onNew: () => void;
  readonly onList: () => void;
  readonly onClose: () => void;
}

/**
 * Creates the header: title, model, and the buttons of the list of chats, of a new one, and of the
 * window that the chat stands in.
 */
export function createHeader({ onNew, onList, onClose }: HeaderActions) {
  const chats = createButton("chats-button", "");
  chats.append(icon("M4 5.5h12M4 10h12M4 14.5h8"));
  chats.setAttribute("aria-label", say("Chats"));
  chats.addEventListener("click", onList);
  const title = el("h1", {}, say(UNTITLED));
  const model = el("p", { class: "model" });
  const button = createButton("new", "");
  button.setAttribute("aria-label", say("New chat"));
  button.append(icon("M10 4v12M4 10h12"), el("span", {}, say("New chat")));
  button.addEventListener("click", onNew);
  const close = createButton("close", "");
  close.append(icon(CLOSE_ICON));
  close.setAttribute("aria-label", say("Close the chat"));
  close.addEventListener("click", onClose);
  const logo = el("slot", { name: "logo" });
  const names = el("div", {}, title, model);
  return {
    root: el("header", { part: "header" }, chats, logo, names, button, close),
    chats,
    update(list: ExchangeList) {
      setText(title, titleOf(list));
      setText(model, list.all.findLast(({ answer }) => answer.model)?.answer.model ?? "");
      button.hidden = list.all.length === 0;
    },
  };
}

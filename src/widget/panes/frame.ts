import { say } from "../texts/say.ts";
import { el, icon, RELOAD_ICON } from "../dom.ts";

/** The words of a page. */
export interface FrameWords {
  readonly title: string;
  /** Of the button that leads from an entry back to the list. */
  readonly back: string;
  /** What stands where no entry is open. */
  readonly hint: string;
}

/** Creates the fixed parts of a page: its header, a list at the side, and the open entry. */
export function createFrame({ title, back: backLabel, hint }: FrameWords, ...tools: Node[]) {
  const reload = createButton({ "aria-label": say("Refresh") }, icon(RELOAD_ICON));
  const more = createButton({ class: "more", hidden: "" }, say("Show more"));
  const back = createButton({ class: "back" }, icon("M12 5l-5 5 5 5"), backLabel);
  const notice = el("p", { class: "notice", role: "alert" });
  const bar = el("div", { class: "tools" }, ...tools, reload);
  const header = el("header", {}, el("h1", {}, title), bar);
  const side = el("div", { class: "side" });
  const detail = el("div", { class: "detail" }, el("p", { class: "note" }, hint));
  const root = el("div", { class: "panes" }, header, side, detail);
  return { root, side, detail, reload, more, back, notice };
}

/** Reads what the address names after `#`; empty where it names nothing. */
export function readHash(): string {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
}

function createButton(
  attributes: Readonly<Record<string, string>>,
  ...children: readonly (Node | string)[]
): HTMLButtonElement {
  return el("button", { type: "button", ...attributes }, ...children);
}

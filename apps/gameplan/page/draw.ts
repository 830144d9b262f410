import { drawLine } from "../../../src/widget/markdown/text-view.ts";
import { el } from "../../../src/widget/dom.ts";
import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { drawNodes } from "../../../src/widget/cards/draw-nodes.ts";
import { textOf } from "./read-json.ts";

/** Parts that several sections draw. */

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function formatTime(iso: string): string {
  const ms = Date.parse(iso);
  return Number.isFinite(ms) ? DAY.format(ms) : "";
}

/** Turns `user:ann` into "ann". */
export function formatPerson(actorId: string): string {
  return actorId.replace(/^user:/, "");
}

const WORDS: Readonly<Record<string, string>> = {
  core: "Core",
  important: "Important",
  later: "Later",
  none: "No access",
  draft: "Draft",
  active: "Active",
  deprecated: "Deprecated",
  finalized: "Finalized",
  open: "Open",
  version_plan: "Version plan",
  idea_thread: "Thread",
  idea_message: "Message",
};

/** A value of an enumeration in words. */
export function inWords(value: string): string {
  return WORDS[value] ?? value.charAt(0).toUpperCase() + value.slice(1).replaceAll("_", " ");
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

export function drawTag(value: string): HTMLElement {
  return el("span", { class: "tag", "data-value": value }, inWords(value));
}

/** Formatted text that people or models wrote. It is drawn as in the chat. */
export function drawMarkdown(text: string): HTMLElement {
  const root = el("div", { class: "prose" });
  root.append(...drawNodes([["markdown", {}, text]]));
  return root;
}

/** A list of links: a name, small facts, and a sentence. */
export function drawRows(
  label: string,
  rows: readonly {
    readonly href: string;
    readonly name: string;
    readonly facts?: readonly (Node | string)[];
    readonly text?: string;
  }[],
): HTMLElement {
  const items = rows.map(({ href, name, facts = [], text }) => {
    const link = el("a", { href, "data-key": href }, el("span", { class: "row-name" }, name));
    // Texts side by side would become one.
    const apart = facts.map((fact) => (typeof fact === "string" ? el("span", {}, fact) : fact));
    if (apart.length > 0) link.append(el("span", { class: "row-facts" }, ...apart));
    if (text) link.append(el("span", { class: "row-text" }, drawLine(text)));
    return el("li", {}, link);
  });
  return el("ul", { class: "rows", "aria-label": label }, ...items);
}

/** Says that there is nothing, and what to do. */
export function drawEmpty(what: string, hint: string): HTMLElement {
  return el("div", { class: "nothing" }, el("p", {}, what), el("p", { class: "note" }, hint));
}

export function drawHeading(text: string, ...facts: readonly (Node | string)[]): HTMLElement {
  const heading = el("h2", { tabindex: "-1", "data-key": `heading ${text}` }, text);
  return el("div", { class: "heading-row" }, heading, ...facts);
}

/** A heading with what belongs to it; nothing when there is nothing. */
export function drawGroup(title: string, ...content: readonly (Node | string)[]): HTMLElement[] {
  if (content.length === 0) return [];
  return [el("section", { class: "group" }, el("h3", {}, title), ...content)];
}

/** A button that is disabled while its action runs. */
export function drawButton(
  text: string,
  action: () => Promise<unknown>,
  attributes: Readonly<Record<string, string>> = {},
): HTMLButtonElement {
  const button = el(
    "button",
    { type: "button", "data-key": `button:${text}`, ...attributes },
    text,
  );
  button.addEventListener("click", () => {
    button.disabled = true;
    void action().finally(() => {
      button.disabled = false;
    });
  });
  return button;
}

/** Who made something, and when. */
export function formatMade(value: JsonObject): string {
  const who = formatPerson(textOf(value, "createdBy"));
  return [who && `by ${who}`, formatTime(textOf(value, "createdAt"))].filter(Boolean).join(", ");
}

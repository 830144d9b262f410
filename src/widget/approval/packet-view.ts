import type { PacketLine } from "../../protocol/approval/packet-lines.ts";
import { formatNote } from "./labels.ts";
import { el } from "../dom.ts";

/** Where a line stands on the card. What is not named here is shown all the same, among the facts. */
const PLACES: Readonly<Record<string, string>> = {
  consequence: "",
  compensation: "",
  rejectionPath: "",
  arguments: "Arguments",
  withheld: "Arguments",
  beforeState: "Before",
  afterState: "After",
};
const FACTS = "More facts";

/** Draws the lines of a packet: what happens first, then with what, then the rest. */
export function drawPacket(lines: readonly PacketLine[]): readonly HTMLElement[] {
  const placed = Map.groupBy(lines, ({ field }) =>
    Object.hasOwn(PLACES, field) ? (PLACES[field] ?? FACTS) : FACTS,
  );
  const sectionsOf = (...titles: readonly string[]): readonly HTMLElement[] =>
    titles.flatMap((title) => {
      const found = placed.get(title);
      return found ? [drawSection(title, found)] : [];
    });
  const states = el("div", { class: "states" }, ...sectionsOf("Before", "After"));
  const facts = drawList(placed.get(FACTS) ?? []);
  const rest = el("details", { class: "facts" }, el("summary", {}, FACTS), facts);
  return [drawList(placed.get("") ?? []), ...sectionsOf("Arguments"), states, rest];
}

function drawSection(title: string, lines: readonly PacketLine[]): HTMLElement {
  const caption = el("p", { class: "caption" }, title);
  return el("section", { "aria-label": title }, caption, drawList(lines));
}

function drawList(lines: readonly PacketLine[]): HTMLElement {
  return el("dl", {}, ...lines.map(drawLine));
}

function drawLine({ field, label, text, notes }: PacketLine): HTMLElement {
  const value = el("dd", { "data-field": field }, drawValue(text));
  for (const note of Array.isArray(notes) ? notes : []) {
    value.append(el("p", { class: "remark" }, formatNote(note)));
  }
  return el("div", {}, el("dt", {}, ...drawText(label)), value);
}

/** Characters of a value that are shown at once; all of it is there to be opened. */
const FOLD_AFTER = 600;

function drawValue(text: string): HTMLElement {
  if (text.length <= FOLD_AFTER) return el("span", {}, ...drawText(text));
  const count = text.length.toLocaleString("en");
  const start = `${text.slice(0, 120).toWellFormed()}…`;
  const summary = el("summary", {}, el("span", {}, ...drawText(start)), ` (${count} characters)`);
  return el("details", { class: "long" }, summary, el("span", {}, ...drawText(text)));
}

const MARK = /(⟦U\+[0-9A-F]{4,6}(?:×\d+)?⟧)/;

/** Sets the marks of characters apart from the text; only toVisible can have written one. */
function drawText(text: string): (Node | string)[] {
  return text
    .split(MARK)
    .map((piece, at) => (at % 2 === 1 ? el("mark", {}, piece) : piece))
    .filter((piece) => piece !== "");
}

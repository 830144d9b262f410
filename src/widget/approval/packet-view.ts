import { formatNumber, say, type Text } from "../texts/say.ts";
import type { PacketLine } from "../../protocol/approval/packet-lines.ts";
import { formatNote } from "./note.ts";
import { el } from "../dom.ts";
import { sayLine } from "./packet-words.ts";

/** The section of each field. A field that is not named here is shown among the details. */
const SECTIONS: Readonly<Record<string, Text | "">> = {
  changedTerms: "Asked again, because the rules changed",
  changedShown: "Asked again, because this has changed",
  question: "",
  raise: "",
  drifting: "",
  consequence: "",
  after: "",
  workspaceId: "",
  compensation: "",
  rejectionPath: "",
  arguments: "Arguments",
  withheld: "Arguments",
  beforeState: "Before",
  afterState: "After",
};
const DETAILS: Text = "More details";

/** Draws a packet: changes and consequence first, then arguments and states, then details. */
export function drawPacket(lines: readonly PacketLine[]): readonly HTMLElement[] {
  // The form shows its fields and choices.
  const drawn = lines.filter(({ field, pointer }) => field !== "question" || pointer === undefined);
  const sections = Map.groupBy(drawn, ({ field }) =>
    Object.hasOwn(SECTIONS, field) ? (SECTIONS[field] ?? DETAILS) : DETAILS,
  );
  const sectionsOf = (...titles: readonly (Text | "")[]): readonly HTMLElement[] =>
    titles.flatMap((title) => {
      const found = sections.get(title);
      return found && title ? [drawSection(say(title), found)] : [];
    });
  const states = el("div", { class: "states" }, ...sectionsOf("Before", "After"));
  const details = drawList(sections.get(DETAILS) ?? []);
  const rest = el("details", { class: "facts" }, el("summary", {}, say(DETAILS)), details);
  const renewed = sectionsOf(SECTIONS["changedTerms"] ?? "", SECTIONS["changedShown"] ?? "");
  return [...renewed, drawList(sections.get("") ?? []), ...sectionsOf("Arguments"), states, rest];
}

function drawSection(title: string, lines: readonly PacketLine[]): HTMLElement {
  const caption = el("p", { class: "caption" }, title);
  return el("section", { "aria-label": title }, caption, drawList(lines, title));
}

/** Draws lines as a list of labels and values. */
export function drawList(lines: readonly PacketLine[], title?: string): HTMLElement {
  return el("dl", {}, ...lines.map((line) => drawLine(line, title)));
}

/** A whole state is not labelled with the title of its section a second time. */
function drawLine(line: PacketLine, title: string | undefined): HTMLElement {
  const { field, label, text, was, notes } = sayLine(line);
  const value = el("dd", { "data-field": field }, drawValue(text));
  if (was !== undefined) {
    value.dataset["changed"] = "";
    value.append(drawBefore(was));
  }
  for (const note of Array.isArray(notes) ? notes : []) {
    value.append(el("p", { class: "remark" }, formatNote(note)));
  }
  const name = el("dt", {}, ...drawText(label));
  name.hidden = line.pointer === undefined && label === title;
  return el("div", {}, name, value);
}

/** Says what people were shown before, in words: colours and lines through a text say it to few. */
function drawBefore(was: string | null): HTMLElement {
  if (was === null) return el("p", { class: "was" }, say("New: there was no value before."));
  return el("p", { class: "was" }, say("Changed. Before:"), " ", el("del", {}, drawValue(was)));
}

/** A value longer than this is folded. The reader can open all of it. Unit: characters. */
const FOLD_AFTER = 600;

function drawValue(text: string): HTMLElement {
  if (text.length <= FOLD_AFTER) return el("span", {}, ...drawText(text));
  const count = formatNumber(text.length);
  const start = `${text.slice(0, 120).toWellFormed()}…`;
  const summary = el(
    "summary",
    {},
    el("span", {}, ...drawText(start)),
    say(" ({count} characters)", { count }),
  );
  return el("details", { class: "long" }, summary, el("span", {}, ...drawText(text)));
}

const MARK = /(⟦U\+[0-9A-F]{4,6}(?:×\d+)?⟧)/;

/** Sets marks of hidden characters apart from the text. Only toVisible writes such marks. */
export function drawText(text: string): (Node | string)[] {
  return text
    .split(MARK)
    .map((piece, at) => (at % 2 === 1 ? el("mark", {}, piece) : piece))
    .filter((piece) => piece !== "");
}

import { say, type Text } from "../texts/say.ts";
import type { VisibleNote, VisibleNoteKind } from "../../protocol/text/visible-note.ts";

const NOTES: { readonly [Kind in VisibleNoteKind]: Text } = {
  hidden: "Invisible or misleading characters are shown as code points",
  stacked_marks: "A letter has more marks than any language uses",
  not_nfc: "Letters have an unusual form that looks like other letters",
  mixed_script: "A word mixes letters of several alphabets",
  host: "A web address has letters other than a to z",
  right_to_left: "Part of this text reads from right to left",
};

/** Formats a warning about a text, with the code points that it is about. */
export function formatNote({ kind, codePoints }: VisibleNote): string {
  const text = Object.hasOwn(NOTES, kind)
    ? say(NOTES[kind])
    : say("This text may not be what it looks like");
  const points = Array.isArray(codePoints) ? codePoints.slice(0, 8).join(" ") : "";
  return kind === "hidden" || points === "" ? `${text}.` : `${text}: ${points}`;
}

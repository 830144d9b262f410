import { toVisible } from "../../src/protocol/text/visible.ts";

/**
 * Makes a text safe for a terminal. Threat: what a model or a tool wrote moves the cursor, or looks
 * like another line. Line ends stay.
 */
export function toVisibleLines(text: string): string {
  return text
    .split("\n")
    .map((line) => toVisible(line).text)
    .join("\n");
}

/** A piece of a streamed text: its spaces stay as they are, its control characters do not. */
export function toVisiblePiece(text: string): string {
  return text.replaceAll(CONTROLS, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `⟦U+${code.toString(16).toUpperCase().padStart(4, "0")}⟧`;
  });
}

/** Controls except line end and tab, and characters that change the direction of a text. */
const CONTROLS = /(?![\n\t])[\p{Cc}\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/gu;

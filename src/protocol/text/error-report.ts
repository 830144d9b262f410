import type { MaskValues } from "../secrets/mask-values.ts";
import { findSecret, MASKED } from "../secrets/secret-shapes.ts";
import { cutText, replaceHalves } from "./whole-characters.ts";

/** An error as a log shows it. */
export interface ErrorReport {
  readonly name: string;
  readonly message: string;
  /** `function (file:line:column)`, innermost first. */
  readonly frames: readonly string[];
  readonly cause?: ErrorReport;
}

const MAX_NAME_CHARS = 64;
const MAX_MESSAGE_CHARS = 300;
const MAX_FRAME_CHARS = 200;
const MAX_FRAMES = 20;
const MAX_CAUSES = 3;
/** What is read of a message or a stack before anything is cut. */
const MAX_READ_CHARS = 16_384;

/** Between quotes, libraries repeat the input that they refuse: `Unexpected token in "hello"`. */
const QUOTED = /"[^"]*"?|'[^']*'?|`[^`]*`?/g;
/** A word without a digit and of an ordinary length. Other words may be values. */
const PLAIN_WORD = /^[A-Za-z_().,:;!?\u2026-]{1,32}$/;
const FRAME = /^\s*at [^"'`]+$/;

/**
 * Describes something that was thrown, for operators.
 * Threat: what is thrown may be anything, a throwing getter included, and its message may repeat
 * arguments or secrets. Of a message only plain words stay, and nothing between quotes.
 * Contract: never throws; its size is bounded.
 */
export function reportError(thrown: unknown, mask?: MaskValues): ErrorReport {
  try {
    return describe(thrown, { mask: mask ?? ((value) => value), causesLeft: MAX_CAUSES });
  } catch {
    return { name: "unknown", message: "the thrown value cannot be read", frames: [] };
  }
}

interface Reporting {
  readonly mask: MaskValues;
  readonly causesLeft: number;
}

function describe(thrown: unknown, { mask, causesLeft }: Reporting): ErrorReport {
  if (!(thrown instanceof Error)) {
    return { name: typeof thrown, message: "something that is no error was thrown", frames: [] };
  }
  // A foreign error may hold anything in its fields.
  const { name, message, stack, cause } = thrown as { readonly [Field in keyof Error]: unknown };
  return {
    name: cutText(maskMessage(String(name), mask), MAX_NAME_CHARS),
    message: cutText(maskMessage(String(message), mask), MAX_MESSAGE_CHARS),
    frames: readFrames(String(stack), mask),
    ...(cause !== undefined &&
      causesLeft > 0 && { cause: describe(cause, { mask, causesLeft: causesLeft - 1 }) }),
  };
}

/** Reads the lines behind the message, which may look like a frame itself. */
function readFrames(stack: string, mask: MaskValues): readonly string[] {
  const lines = stack.slice(0, MAX_READ_CHARS).trimEnd().split("\n");
  const first = lines.findLastIndex((line) => !FRAME.test(line)) + 1;
  return lines
    .slice(first, first + MAX_FRAMES)
    .map((line) => cutText(maskWords(mask(line.trim().slice("at ".length))), MAX_FRAME_CHARS));
}

function maskMessage(text: string, mask: MaskValues): string {
  const masked = mask(replaceHalves(text).slice(0, MAX_READ_CHARS)).replace(QUOTED, "…");
  if (looksSecret(masked)) return MASKED;
  return masked
    .split(/\s+/)
    .map((word) => (PLAIN_WORD.test(word) ? word : "…"))
    .join(" ");
}

const MAX_WORDS_CHARS = 500;

/**
 * Masks the words of another service that look like a secret, and bounds the text.
 * Contract: pure; where a secret spans several words, nothing of the text is left.
 */
export function maskWords(text: string): string {
  const whole = replaceHalves(text.slice(0, MAX_READ_CHARS));
  const words = looksSecret(whole)
    ? whole.replaceAll(/[^\s"',;]+/g, (word) => (looksSecret(word) ? MASKED : word))
    : whole;
  return looksSecret(words) ? MASKED : cutText(words, MAX_WORDS_CHARS);
}

function looksSecret(text: string): boolean {
  return findSecret(text) !== undefined;
}

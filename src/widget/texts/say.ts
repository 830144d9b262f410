import { fillText, type Say, type TextValues } from "../../protocol/text/fill-text.ts";
import type { GERMAN } from "./german.ts";

/** A text of the chat. Its name is what it says in English, with `{…}` where a value stands. */
export type Text = keyof typeof GERMAN;

/** What texts say instead, and how times are written. */
export interface Language {
  /** As in `Intl`; undefined for that of the browser. */
  readonly locale: string | undefined;
  readonly table: { readonly [Name in Text]?: string };
}

/** The files of a page are built apart, so the language of the page is not in one of them. */
const PLACE = Symbol.for("interlock.language");
const page: { [PLACE]?: Language } & object = globalThis;

/** Sets the language of every element of the page. What is drawn already stays. */
export function setLanguage(language: Language): void {
  page[PLACE] = language;
}

/** Says a text in the language of the page. Values stand in it as they are. */
export function say(text: Text, values: TextValues = {}): string {
  return fillText(page[PLACE]?.table[text] ?? text, values);
}

/** Says a text of the protocol, likewise. A test holds that the table has all of them. */
export const sayWords: Say = (text, values) => say(text as Text, values);

/** The locale of the page's language; undefined for that of the browser. */
export function localeOfPage(): string | undefined {
  return page[PLACE]?.locale;
}

/** Formats a time as the language of the page writes it. Unit: Unix milliseconds. */
export function formatTime(atMs: number, style: Intl.DateTimeFormatOptions = WHEN): string {
  return new Intl.DateTimeFormat(localeOfPage(), style).format(atMs);
}

/** Formats a number likewise, with at most so many digits after the point. */
export function formatNumber(value: number, digits = 6): string {
  return new Intl.NumberFormat(localeOfPage(), { maximumFractionDigits: digits }).format(value);
}

const WHEN = { dateStyle: "medium", timeStyle: "short" } as const;

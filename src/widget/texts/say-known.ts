import { readValues } from "../../protocol/text/fill-text.ts";
import { say, sayWords, type Text } from "./say.ts";

/** Texts that the server words in English, for all who read them. */
export interface Worded {
  readonly texts: readonly Text[];
  /** Words of the server that stand in these texts as values. Other values are never changed. */
  readonly words?: readonly string[];
  /**
   * Tells of some values, by name, whether they can be what stands there.
   * Threat: a value that somebody else wrote holds the words that stand between two values.
   */
  readonly fits?: Readonly<Record<string, (value: string) => boolean>>;
}

/** Says a text of the server in the language of the page. Any other text stays as it is. */
export function sayKnown(text: string, { texts, words = [], fits = {} }: Worded): string {
  for (const known of texts) {
    const values = readValues(known, text);
    const entries = Object.entries(values ?? {});
    if (!values || !entries.every(([name, value]) => fits[name]?.(value) ?? true)) continue;
    const said = entries.map(([name, value]) => [
      name,
      words.includes(value) ? sayWords(value) : value,
    ]);
    return say(known, Object.fromEntries(said));
  }
  return text;
}

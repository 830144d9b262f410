import { readValues } from "../../protocol/text/fill-text.ts";
import { say, sayWords, type Text } from "./say.ts";

/** Texts that the server words in English, for all who read them. */
export interface Worded {
  readonly texts: readonly Text[];
  /** Words of the server that stand in these texts as values. Other values are never changed. */
  readonly words?: readonly string[];
}

/** Says a text of the server in the language of the page. Any other text stays as it is. */
export function sayKnown(text: string, { texts, words = [] }: Worded): string {
  for (const known of texts) {
    const values = readValues(known, text);
    if (!values) continue;
    const said = Object.entries(values).map(([name, value]) => [
      name,
      words.includes(value) ? sayWords(value) : value,
    ]);
    return say(known, Object.fromEntries(said));
  }
  return text;
}

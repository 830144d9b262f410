/** What stands in a text where it has `{name}`. */
export type TextValues = Readonly<Record<string, string | number>>;

/** Says a text, which is named by its English words, in the language of the reader. */
export type Say = (text: string, values?: TextValues) => string;

/** Puts values into a text. They stand in it as they are. */
export function fillText(text: string, values: TextValues = {}): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : whole,
  );
}

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

/**
 * Reads the values out of a filled text; undefined for a text that was not made from this one. Of
 * several ways to read it, each value but the last is as short as can be. Contract: pure; linear.
 */
export function readValues(
  text: string,
  filled: string,
): Readonly<Record<string, string>> | undefined {
  const [start = "", ...rest] = text.split(/\{(\w+)\}/);
  if (rest.length === 0) return filled === text ? {} : undefined;
  if (!filled.startsWith(start)) return undefined;
  const values: Record<string, string> = {};
  let from = start.length;
  for (let part = 0; part < rest.length; part += 2) {
    const [name = "", after = ""] = rest.slice(part, part + 2);
    const isLast = part + 2 === rest.length;
    const end = isLast ? filled.length - after.length : filled.indexOf(after, from);
    if (end < from || !filled.startsWith(after, end)) return undefined;
    values[name] = filled.slice(from, end);
    from = end + after.length;
  }
  return values;
}

/**
 * Makes the fields findable by words, in small letters and without spaces: each by its own name,
 * and by the other words of its text.
 */
export function byWord<Field extends string>(
  words: Readonly<Record<Field, string>>,
): ReadonlyMap<string, Field> {
  const fields = Object.keys(words) as Field[];
  return new Map(
    fields.flatMap((field) =>
      [field.toLowerCase(), ...words[field].split(" ")].map((word) => [word, field] as const),
    ),
  );
}

/** The heading of a text: `coreMechanics` is "Core mechanics". */
export function headingOf(field: string): string {
  const words = field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

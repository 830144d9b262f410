/** Cuts a text to a number of characters, without half a character at its end. */
export function cutText(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const last = text.charCodeAt(characters - 1);
  const isHalf = last >= 0xd8_00 && last <= 0xdb_ff;
  return text.slice(0, isHalf ? characters - 1 : characters);
}

const QUOTED_CHARS = 80;

/** Quotes a text of others in a sentence. */
export function quote(text: string): string {
  return `"${cutText(text.trim(), QUOTED_CHARS)}"`;
}

/** Makes a slug of a name: `Ärger im Turm!` is `arger-im-turm`. Undefined: nothing is left. */
export function toSlug(name: string): string | undefined {
  const slug = name
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036F]/g, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 60)
    .replaceAll(/^-+|-+$/g, "");
  return slug === "" ? undefined : slug;
}

/** JSON text of encoded parts that never change; undefined until it is asked for. */
const TEXTS = new WeakMap<object, string | undefined>();

/**
 * Builds an encoder that encodes each object once. The steps of a run send the same messages and
 * tools again, so the work of a step is only what is new.
 * Contract: `encode` depends on the object alone, and nobody changes what it answers.
 */
export function encodedOnce<Item extends object, Encoded extends object>(
  encode: (item: Item) => Encoded,
): (item: Item) => Encoded {
  const known = new WeakMap<Item, Encoded>();
  return (item) => {
    const found = known.get(item);
    if (found) return found;
    const encoded = encode(item);
    known.set(item, encoded);
    for (const part of Array.isArray(encoded) ? (encoded as object[]) : [encoded]) {
      TEXTS.set(part, undefined);
    }
    return encoded;
  };
}

/** Writes a request's body as JSON. The text of what was encoded once is written once. */
export function stringifyBody(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (TEXTS.has(value)) {
    const text = TEXTS.get(value) ?? JSON.stringify(value);
    TEXTS.set(value, text);
    return text;
  }
  if (Array.isArray(value)) return `[${value.map(stringifyBody).join(",")}]`;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  const texts = fields.map(([name, field]) => `${JSON.stringify(name)}:${stringifyBody(field)}`);
  return `{${texts.join(",")}}`;
}

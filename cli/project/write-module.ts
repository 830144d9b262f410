import { isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/json/value.ts";

/** A value that stands twice is written once when its JSON text is at least this long. */
const MIN_SHARED_CHARS = 30;

/**
 * Writes a module that exports a JSON value under a name. Equal objects and lists become one, which
 * every place refers to: contracts repeat the schemas of their arguments, and a start reads less.
 * Contract: the same value gives the same text. A key such as `__proto__` stays a key. The parts of
 * the exported value are shared, so nobody may change them.
 */
export function writeModule(name: string, value: JsonValue): string {
  const repeated = repeatedTexts(value);
  const names = new Map<string, string>();
  const shared: string[] = [];

  function write(part: JsonValue): string {
    const text = JSON.stringify(part);
    if (!repeated.has(text)) return writeOpen(part);
    const known = names.get(text);
    if (known) return known;
    const written = writeOpen(part);
    const shortName = `s${names.size}`;
    names.set(text, shortName);
    shared.push(`const ${shortName} = ${written};\n`);
    return shortName;
  }

  function writeOpen(part: JsonValue): string {
    if (typeof part !== "object" || part === null) return JSON.stringify(part);
    if (Array.isArray(part)) return `[${part.map(write).join(",")}]`;
    const schema = readClosedSchema(part as JsonObject);
    if (schema) {
      const { properties, required } = schema;
      const areAll = JSON.stringify(required) === JSON.stringify(Object.keys(properties).sort());
      return `closed(${write(properties)}${areAll ? "" : `,${write(required)}`})`;
    }
    const members = Object.entries(part).map(([key, member]) => `${keyOf(key)}:${write(member)}`);
    return `{${members.join(",")}}`;
  }

  const written = write(value);
  return `${CLOSED}${shared.join("")}export const ${name} = ${written};\n`;
}

/** Most schemas of a contract are closed objects, and most of these require every property. */
const CLOSED = `const closed = (properties, required = Object.keys(properties).sort()) =>
  ({ type: "object", properties, required, additionalProperties: false });
`;

/** Undefined: the value is something else. The order of the keys belongs to the value. */
function readClosedSchema(part: JsonObject) {
  const { type, properties, required, additionalProperties } = part;
  const isClosed =
    Object.keys(part).join() === "type,properties,required,additionalProperties" &&
    type === "object" &&
    additionalProperties === false;
  return isClosed && required !== undefined && properties !== undefined && isJsonObject(properties)
    ? { properties, required }
    : undefined;
}

/** The literal `{"__proto__": x}` would set a prototype; a computed key is a key in any case. */
function keyOf(key: string): string {
  const text = JSON.stringify(key);
  return key === "__proto__" ? `[${text}]` : text;
}

function repeatedTexts(value: JsonValue): ReadonlySet<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  const pending = [value];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (typeof part !== "object" || part === null) continue;
    const text = JSON.stringify(part);
    if (text.length < MIN_SHARED_CHARS) continue;
    if (seen.has(text)) repeated.add(text);
    else {
      seen.add(text);
      pending.push(...Object.values(part));
    }
  }
  return repeated;
}

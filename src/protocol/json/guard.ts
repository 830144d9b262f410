/** Deepest nesting of objects and arrays that JSON from outside may have. */
export const MAX_JSON_DEPTH = 64;

/**
 * Tells whether JSON text nests deeper than `maxDepth`, without parsing it.
 * Threat: a depth bomb overflows the stack of the code that walks the parsed value.
 * Contract: pure and linear; never throws. For text that is not JSON the answer has no meaning.
 */
export function nestsTooDeep(text: string, maxDepth: number = MAX_JSON_DEPTH): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const char = text.charCodeAt(index);
    if (inString) {
      if (char === BACKSLASH) index++;
      else if (char === QUOTE) inString = false;
    } else if (char === QUOTE) inString = true;
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      if (++depth > maxDepth) return true;
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) depth--;
  }
  return false;
}

/** An object or a list that is open at one place of a text. */
interface Frame {
  /** Keys so far; absent for a list. */
  readonly keys?: Set<string>;
  /** The key, or the index, of the value that is read. */
  at: string;
}

/**
 * Finds the first key that an object of a JSON text holds twice, and returns its path. Two
 * spellings of one key are equal.
 * Threat: one reader of such a text takes the first value and another the last. So a proxy, a log
 * or a person may see another decision than the one that counts.
 * Contract: pure and linear; the text is valid JSON.
 */
export function findDuplicateKey(text: string): readonly string[] | undefined {
  const frames: Frame[] = [];
  let isKeyNext = false;
  for (let index = 0; index < text.length; index++) {
    const char = text.charCodeAt(index);
    const frame = frames.at(-1);
    if (char === QUOTE) {
      const start = index;
      index = endOfString(text, start);
      if (!isKeyNext || !frame?.keys) continue;
      isKeyNext = false;
      frame.at = JSON.parse(text.slice(start, index + 1)) as string;
      if (frame.keys.has(frame.at)) return frames.map(({ at }) => at);
      frame.keys.add(frame.at);
    } else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      isKeyNext = char === OPEN_BRACE;
      frames.push(isKeyNext ? { keys: new Set(), at: "" } : { at: "0" });
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) frames.pop();
    else if (char === COMMA && frame) {
      isKeyNext = frame.keys !== undefined;
      if (!isKeyNext) frame.at = String(Number(frame.at) + 1);
    }
  }
  return undefined;
}

/** Answers the index of the quote that ends the string that starts at an index. */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (text.charCodeAt(index) !== QUOTE) index += text.charCodeAt(index) === BACKSLASH ? 2 : 1;
  return index;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Tells whether every text and every key of a parsed value has whole characters. Half a surrogate
 * pair has no canonical form, so no hash could bind it.
 * Contract: the value nests at most MAX_JSON_DEPTH levels.
 */
export function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every((item) => isWellFormed(item));
  return Object.entries(value).every(([key, item]) => key.isWellFormed() && isWellFormed(item));
}

/**
 * Tells whether every number of a parsed value is finite. JSON text can hold others, such as 1e999.
 * Contract: the value nests at most MAX_JSON_DEPTH levels.
 */
export function hasFiniteNumbers(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  return Object.values(value).every((item) => hasFiniteNumbers(item));
}

/**
 * Finds an own key `__proto__` anywhere in a parsed value and returns its path.
 * Threat: such a key becomes the prototype of an object into which the value is merged or copied.
 * Contract: the value nests at most MAX_JSON_DEPTH levels.
 */
export function findProtoKey(value: unknown): readonly string[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const key of Object.keys(value)) {
    if (key === "__proto__") return [key];
    const below = findProtoKey(Object.getOwnPropertyDescriptor(value, key)?.value);
    if (below) return [key, ...below];
  }
  return undefined;
}

import { toCanonicalJson } from "../../src/protocol/json/canonical-hash.ts";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../src/protocol/json/value.ts";
import { type Kind, normalise } from "./local-documents.ts";

/** Tells whether the whole document still means the same with this part. */
type Fits = (part: JsonValue) => boolean;

/**
 * Writes a document as an author would: without the fields that have their default, and a tool of
 * the policy by its id alone.
 * Contract: the product reads both forms as the same document.
 */
export function shorten(kind: Kind, document: JsonObject): JsonObject {
  const meaning = toCanonicalJson(normalise(kind, document));
  const fits: Fits = (part) => toCanonicalJson(normalise(kind, part as JsonObject)) === meaning;
  return shortenObject(document, fits);
}

function shortenPart(part: JsonValue, fits: Fits): JsonValue {
  if (isJsonArray(part)) return shortenList(part, fits);
  return isJsonObject(part) ? shortenObject(part, fits) : part;
}

function shortenObject(object: JsonObject, fits: Fits): JsonObject {
  let short = object;
  for (const [name, member] of Object.entries(object)) {
    const { [name]: _left, ...rest } = short;
    const before = short;
    short = fits(rest)
      ? rest
      : { ...short, [name]: shortenPart(member, (part) => fits({ ...before, [name]: part })) };
  }
  return short;
}

function shortenList(list: readonly JsonValue[], fits: Fits): readonly JsonValue[] {
  return list.reduce<readonly JsonValue[]>((short, item, index) => {
    const fitsItem: Fits = (part) => fits(short.with(index, part));
    const shortItem = shortenPart(item, fitsItem);
    const id = isJsonObject(shortItem) ? shortItem["id"] : undefined;
    return short.with(index, id !== undefined && fitsItem(id) ? id : shortItem);
  }, list);
}

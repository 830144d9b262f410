import { leavesOf } from "../json/pointer.ts";
import type { JsonObject } from "../json/value.ts";
import { standsIn } from "../text/whole-word.ts";

/** What a conversation knows already. */
export interface KnownValues {
  /** What the person wrote. */
  readonly words: readonly string[];
  /** Arguments of earlier writes, as shown. */
  readonly used: readonly JsonObject[];
}

/** A recipient, an account or an address has no spaces, and a digit or a mark. */
const NAMES_SOMETHING = /^(?=.*[\d@.:/])\S{4,256}$/;

/**
 * Lists the arguments that name a recipient, an account or a host which neither the person wrote
 * nor an earlier write used. Of an address of the web the host counts.
 * Contract: pure; JSON pointers.
 */
export function listNewValues(shown: JsonObject, { words, used }: KnownValues): readonly string[] {
  const known = new Set(
    used.flatMap((args) => [...leavesOf(args)].map(({ value }) => nameOf(value))),
  );
  for (const text of words) for (const { 0: url } of text.matchAll(URLS)) known.add(nameOf(url));
  return [...leavesOf(shown)].flatMap(({ pointer, value }) => {
    if (typeof value !== "string" || !NAMES_SOMETHING.test(value)) return [];
    const name = nameOf(value);
    return known.has(name) || standsIn(name ?? value, words) ? [] : [pointer];
  });
}

const URLS = /https?:\/\/\S+/g;

function nameOf(value: unknown): string | undefined {
  return typeof value === "string" ? URL.parse(value)?.host || value : undefined;
}

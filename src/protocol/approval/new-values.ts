import { leavesOf } from "../json/pointer.ts";
import type { JsonObject, JsonValue } from "../json/value.ts";
import { standsIn } from "../text/whole-word.ts";

/** What a conversation knows already. */
export interface KnownValues {
  /** What the person wrote. */
  readonly words: readonly string[];
  /** Arguments of earlier writes, as shown. */
  readonly used: readonly JsonObject[];
}

/** An argument that names something. */
export interface NamedValue {
  /** JSON pointer into the arguments. */
  readonly pointer: string;
  /** Of an address of the web, its host. */
  readonly name: string;
}

/** A recipient, an account or an address has no spaces, and a digit or a mark. */
const NAMES_SOMETHING = /^(?=.*[\d@.:/])\S{4,256}$/;

/**
 * Lists the arguments that name a recipient, an account or a host which neither the person wrote
 * nor an earlier write used. Of an address of the web the host counts.
 * Contract: pure.
 */
export function listNewValues(
  shown: JsonObject,
  { words, used }: KnownValues,
): readonly NamedValue[] {
  const known = new Set(used.flatMap((args) => namesIn(args)));
  for (const text of words) for (const { 0: url } of text.matchAll(URLS)) known.add(nameOf(url));
  return namedIn(shown).filter(({ name }) => !known.has(name) && !standsIn(name, words));
}

/** Lists what the arguments of a call name, each once. Contract: pure. */
export function namesIn(shown: JsonObject): readonly string[] {
  const names = new Set<string>();
  addNames(shown, names);
  return [...names];
}

/** Each write asks for its names, and none for their pointers. */
function addNames(value: JsonValue, names: Set<string>): void {
  if (typeof value === "string") {
    if (NAMES_SOMETHING.test(value)) names.add(nameOf(value));
  } else if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) addNames(member, names);
  }
}

const URLS = /https?:\/\/\S+/g;

function namedIn(shown: JsonObject): readonly NamedValue[] {
  return [...leavesOf(shown)].flatMap(({ pointer, value }) =>
    typeof value === "string" && NAMES_SOMETHING.test(value)
      ? [{ pointer, name: nameOf(value) }]
      : [],
  );
}

function nameOf(value: string): string {
  // An address has a scheme, and parsing costs more than looking for its colon.
  return (value.includes(":") && URL.parse(value)?.host) || value;
}

import { mapLeaves } from "../json/map-leaves.ts";
import type { JsonValue } from "../json/value.ts";
import { disarmHtml, disarmLinks, stripUserinfo } from "./disarm-markup.ts";
import { dropHiddenHtml } from "./drop-hidden.ts";
import { dropInvisible } from "./drop-invisible.ts";

/**
 * A value without text that deceives a reader or loads something; `changed` tells if it had any.
 */
export interface Neutralised<Value extends JsonValue> {
  readonly value: Value;
  readonly changed: boolean;
  /** How many hidden texts were removed. */
  readonly hidden: number;
}

/**
 * Makes the texts of an untrusted tool's output harmless to read and to show. The rules are in
 * docs/untrusted-output.md. Names of members are texts too. Ids stay, because they carry no
 * authority.
 * Contract: pure; linear, at any depth; never throws; idempotent; keeps order and number of
 * members.
 */
export function neutralise<Value extends JsonValue>(value: Value): Neutralised<Value> {
  let hidden = 0;
  const count = (found = 1): void => void (hidden += found);
  const cleaned = mapLeaves(value, (leaf) =>
    typeof leaf === "string" ? clean(leaf, count) : leaf,
  );
  return { value: cleaned, changed: cleaned !== value, hidden };
}

/**
 * Most text has plain characters only, and no start of a link, a tag or a URL. It needs no work.
 */
const PLAIN = /^[\n\t\x20-\x7e]*$/;
const MARKS = /[\]<]|:\/\//;

function clean(text: string, count: (found?: number) => void): string {
  const seen = PLAIN.test(text) ? text : dropInvisible(text, count);
  if (!MARKS.test(seen)) return seen;
  const shown = dropHiddenHtml(seen);
  count(shown.count);
  return disarmHtml(disarmLinks(stripUserinfo(shown.text)));
}

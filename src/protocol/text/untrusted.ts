import { isJsonArray, type JsonObject, type JsonValue } from "../json/value.ts";
import { disarmHtml, disarmLinks, stripUserinfo } from "./disarm-markup.ts";
import { dropInvisible } from "./drop-invisible.ts";

/**
 * A value without text that deceives a reader or loads something; `changed` tells if it had any.
 */
export interface Neutralised<Value extends JsonValue> {
  readonly value: Value;
  readonly changed: boolean;
}

/**
 * Makes the texts of an untrusted tool's output harmless to read and to show. The rules are in
 * docs/untrusted-output.md. Names of members are texts too. Ids stay, because they carry no
 * authority.
 * Contract: pure; linear, at any depth; never throws; idempotent; keeps order and number of
 * members.
 */
export function neutralise<Value extends JsonValue>(value: Value): Neutralised<Value> {
  const walk: Walk = { stack: [], changed: false };
  let done: JsonValue | undefined = enter(walk, value);
  for (let frame = walk.stack.at(-1); frame; frame = walk.stack.at(-1)) {
    if (done !== undefined) frame.values.push(done);
    const next = frame.source[frame.values.length];
    if (next !== undefined) {
      done = enter(walk, next);
      continue;
    }
    walk.stack.pop();
    done = frame.keys ? join(frame.keys, frame.values) : frame.values;
  }
  // The walk keeps the shape, so the result is a `Value` too.
  return walk.changed ? { value: done as Value, changed: true } : { value, changed: false };
}

interface Walk {
  /** Open lists and objects. The stack is explicit, because the sender chooses the depth. */
  readonly stack: Frame[];
  changed: boolean;
}

interface Frame {
  readonly source: readonly JsonValue[];
  /** Names of the members; present when the frame is an object. */
  readonly keys?: readonly string[];
  readonly values: JsonValue[];
}

/** Cleans a leaf at once; opens a frame for a list or an object. */
function enter(walk: Walk, value: JsonValue): JsonValue | undefined {
  if (typeof value === "string") return clean(walk, value);
  if (typeof value !== "object" || value === null) return value;
  if (isJsonArray(value)) walk.stack.push({ source: value, values: [] });
  else walk.stack.push({ source: Object.values(value), keys: cleanKeys(walk, value), values: [] });
  return undefined;
}

/** Cleans the names. Two names that become equal stay two members. */
function cleanKeys(walk: Walk, object: JsonObject): readonly string[] {
  const keys = Object.keys(object);
  const cleaned = keys.map((key) => clean(walk, key));
  if (cleaned.every((key, index) => key === keys[index])) return keys;
  const used = new Set<string>();
  return cleaned.map((key) => {
    let free = key;
    for (let twin = 2; used.has(free); twin++) free = `${key}_${twin}`;
    used.add(free);
    return free;
  });
}

/** Builds an object from own members, `__proto__` included. */
function join(keys: readonly string[], values: readonly JsonValue[]): JsonObject {
  return Object.fromEntries(values.map((value, index) => [keys[index] ?? "", value]));
}

/**
 * Most text has plain characters only, and no start of a link, a tag or a URL. It needs no work.
 */
const PLAIN = /^[\n\t\x20-\x7e]*$/;
const MARKS = /[\]<]|:\/\//;

function clean(walk: Walk, text: string): string {
  const seen = PLAIN.test(text) ? text : dropInvisible(text);
  const cleaned = MARKS.test(seen) ? disarmHtml(disarmLinks(stripUserinfo(seen))) : seen;
  if (cleaned !== text) walk.changed = true;
  return cleaned;
}

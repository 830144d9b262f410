import { isJsonArray, type JsonObject, type JsonValue } from "../json/value.ts";
import { disarmHtml, disarmLinks, stripUserinfo } from "./disarm-markup.ts";
import { dropInvisible } from "./drop-invisible.ts";

/** A value without what could deceive a reader or load something; `changed` tells whether any was there. */
export interface Neutralised<Value extends JsonValue> {
  readonly value: Value;
  readonly changed: boolean;
}

/**
 * Makes the texts of an untrusted tool's output harmless to read and to show; docs/untrusted-output.md
 * has the rules. Names of members are texts too. Ids stay as they are, because they carry no authority.
 * Contract: pure; linear, at any depth; never throws; idempotent; keeps order and number of members.
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
  // The walk keeps the shape: what went in as a `Value` comes out as one.
  return walk.changed ? { value: done as Value, changed: true } : { value, changed: false };
}

interface Walk {
  /** Lists and objects that are open; an explicit stack, because depth is the sender's choice. */
  readonly stack: Frame[];
  changed: boolean;
}

interface Frame {
  readonly source: readonly JsonValue[];
  /** Names of the members, where the frame is an object. */
  readonly keys?: readonly string[];
  readonly values: JsonValue[];
}

/** Answers a leaf at once; opens a frame for anything else. */
function enter(walk: Walk, value: JsonValue): JsonValue | undefined {
  if (typeof value === "string") return clean(walk, value);
  if (typeof value !== "object" || value === null) return value;
  if (isJsonArray(value)) walk.stack.push({ source: value, values: [] });
  else walk.stack.push({ source: Object.values(value), keys: cleanKeys(walk, value), values: [] });
  return undefined;
}

/** Two names that read the same stay two members. */
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

/** Own members, `__proto__` included. */
function join(keys: readonly string[], values: readonly JsonValue[]): JsonObject {
  return Object.fromEntries(values.map((value, index) => [keys[index] ?? "", value]));
}

/** Text of plain characters without any mark of a link, a tag or an address; most text is. */
const PLAIN = /^[\n\t\x20-\x7e]*$/;
const MARKS = /[\]<]|:\/\//;

function clean(walk: Walk, text: string): string {
  const seen = PLAIN.test(text) ? text : dropInvisible(text);
  const cleaned = MARKS.test(seen) ? disarmHtml(disarmLinks(stripUserinfo(seen))) : seen;
  if (cleaned !== text) walk.changed = true;
  return cleaned;
}

import { isJsonArray, type JsonObject, type JsonValue } from "./value.ts";

/** Changes a text or a number of a value. Contract: a text stays a text. */
export type MapLeaf = (leaf: string | number) => string | number;

/**
 * Maps every text and number of a JSON value, names of members included.
 * Contract: linear, at any depth; keeps order and number of members; returns the very value when
 * nothing changes. Two names that become equal stay two members.
 */
export function mapLeaves<Value extends JsonValue>(value: Value, map: MapLeaf): Value {
  const walk: Walk = { stack: [], map, changed: false };
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
  // The walk keeps the shape.
  return walk.changed ? (done as Value) : value;
}

interface Walk {
  /** Open lists and objects. The stack is explicit, because the sender chooses the depth. */
  readonly stack: Frame[];
  readonly map: MapLeaf;
  changed: boolean;
}

interface Frame {
  readonly source: readonly JsonValue[];
  /** Names of the members; present when the frame is an object. */
  readonly keys?: readonly string[];
  readonly values: JsonValue[];
}

/** Maps a leaf at once; opens a frame for a list or an object. */
function enter(walk: Walk, value: JsonValue): JsonValue | undefined {
  if (typeof value === "string" || typeof value === "number") return mapLeaf(walk, value);
  if (typeof value !== "object" || value === null) return value;
  if (isJsonArray(value)) walk.stack.push({ source: value, values: [] });
  else walk.stack.push({ source: Object.values(value), keys: mapKeys(walk, value), values: [] });
  return undefined;
}

function mapLeaf(walk: Walk, leaf: string | number): string | number {
  const mapped = walk.map(leaf);
  if (mapped !== leaf) walk.changed = true;
  return mapped;
}

function mapKeys(walk: Walk, object: JsonObject): readonly string[] {
  const keys = Object.keys(object);
  const mapped = keys.map((key) => String(mapLeaf(walk, key)));
  if (mapped.every((key, index) => key === keys[index])) return keys;
  const used = new Set<string>();
  return mapped.map((key) => {
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

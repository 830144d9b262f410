/**
 * Copies lists and plain objects of any depth, so that a function of an author cannot change what
 * others read.
 * Contract: linear; the copy shares no list and no object with the value; anything else, such as a
 * function, is shared.
 */
export function copyOf<Value>(value: Value): Value {
  // The copy keeps the shape.
  return copy(value, (made) => made) as Value;
}

/** Copies likewise, and freezes the copy: who tries to change it gets a TypeError. */
export function frozenCopyOf<Value>(value: Value): Value {
  // The copy keeps the shape.
  return copy(value, Object.freeze) as Value;
}

function copy(value: unknown, finish: (made: object) => object): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return finish(value.map((item) => copy(item, finish)));
  // The spread defines members, so that one called `__proto__` stays a member.
  const made: Record<string, unknown> = { ...value };
  for (const [name, member] of Object.entries(made)) {
    if (typeof member === "object") made[name] = copy(member, finish);
  }
  return finish(made);
}

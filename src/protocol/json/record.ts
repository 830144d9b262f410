import * as v from "valibot";

/** Keys that a record of valibot leaves out without a word. */
const LOST_KEYS = ["__proto__", "constructor", "prototype"];

/**
 * A record that refuses the keys which valibot would drop.
 * Threat: a part of a document that is accepted and has no effect.
 */
export function recordOf<
  Key extends v.GenericSchema<string, string>,
  Value extends v.GenericSchema,
>(key: Key, value: Value) {
  return v.pipe(
    v.custom<Record<string, v.InferInput<Value>>>(
      (input) => !LOST_KEYS.some((lost) => Object.hasOwn(Object(input) as object, lost)),
      `names other than ${LOST_KEYS.join(", ")}`,
    ),
    v.record(key, value),
  );
}

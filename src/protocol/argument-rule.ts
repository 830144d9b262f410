import * as v from "valibot";

const scalar = v.union([v.string(), v.number(), v.boolean(), v.null()]);
const scalars = v.pipe(v.array(scalar), v.minLength(1), v.maxLength(256));
const texts = v.pipe(
  v.array(v.pipe(v.string(), v.maxLength(256))),
  v.minLength(1),
  v.maxLength(256),
);

/**
 * One condition on one place of a call's arguments. Exactly one predicate per rule: several rules on
 * one place all have to hold.
 */
export const argumentRule = v.strictObject({
  /** Tool id. */
  tool: v.pipe(v.string(), v.minLength(1), v.maxLength(64)),
  /** JSON pointer into the arguments; `*` stands for every item of a list. */
  field: v.pipe(v.string(), v.regex(/^(?:\/[^/]{1,128}){1,16}$/)),
  must: v.pipe(
    v.strictObject({
      equal: v.optional(scalar),
      beOneOf: v.optional(scalars),
      notBeOneOf: v.optional(scalars),
      beAtLeast: v.optional(v.number()),
      beAtMost: v.optional(v.number()),
      haveLengthAtMost: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
      startWithOneOf: v.optional(texts),
      endWithOneOf: v.optional(texts),
      /** A URL whose host is one of these, or below one that begins with a dot. */
      haveHostIn: v.optional(texts),
      beAbsent: v.optional(v.literal(true)),
    }),
    v.check((must) => Object.keys(must).length === 1, "exactly one predicate"),
  ),
});

export type ArgumentRule = v.InferOutput<typeof argumentRule>;

import * as v from "valibot";

/** Id of a row, made by the workspace. */
export const rowId = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/));

/** ISO 8601, UTC. */
export const time = v.pipe(v.string(), v.maxLength(30));

/** Who did something, for example `user:ann`. */
export const person = v.pipe(v.string(), v.maxLength(256));

/** Grows by one with every change of the row. */
export const revision = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

/**
 * The revision of a row that a person is asked about. When the row changes while that person reads,
 * the call fails with `stale`: people agree to what they saw.
 */
export const readRevision = v.pipe(revision, v.description("As you read it last."));

/** A number of rows. */
export const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** A name that people read: one line, not empty. */
export const nameText = v.pipe(
  v.string(),
  v.regex(/\S/, "A name needs at least one letter."),
  v.maxLength(120),
);

/** A text of several lines. Empty: nothing is written. */
export const longText = v.pipe(v.string(), v.maxLength(4_000));

/** Continues a list: the cursor that the page before answered. */
export const cursor = v.pipe(v.string(), v.maxLength(128));

/** What a list says about itself: rows in all, and the cursor of the next page or null. */
export const pageEntries = { total: count, next: v.nullable(cursor) };

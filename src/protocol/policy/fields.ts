import * as v from "valibot";
import { isWholeMillionths } from "../budget/millionths.ts";
import { MAX_ACTOR_CHARS } from "../identity/ids.ts";

/** Accepts a whole number from 0. */
export const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
/** Accepts a whole number from 1. */
export const positive = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

/** Accepts an amount of money in units of the policy's currency, to the millionth. */
export const money = v.pipe(
  v.number(),
  v.minValue(0),
  v.maxValue(1e9),
  v.check((amount) => isWholeMillionths(amount), "at most six decimals"),
);

/**
 * Accepts the length of a fixed window. At most 31 days, so that the stored counts stay bounded.
 */
export const windowSeconds = v.pipe(positive, v.maxValue(2_678_400));

/** Accepts text that UTF-8 and canonical JSON can hold: no lone surrogate. */
export const wellFormedText = (maxChars: number) =>
  v.pipe(
    v.string(),
    v.maxLength(maxChars),
    v.check((value) => value.isWellFormed(), "whole characters"),
  );

/** Accepts the id of a tool or a connection, a version or a scope. */
export const name = v.pipe(wellFormedText(64), v.minLength(1));
/** Accepts the id of an actor. */
export const actor = v.pipe(wellFormedText(MAX_ACTOR_CHARS), v.minLength(1));

const A_TIME = "a time that exists, with a zone: 2027-06-30T00:00:00Z";

/** Accepts an ISO 8601 time with a zone. */
export const timestamp = v.pipe(
  v.string(),
  v.isoTimestamp(A_TIME),
  v.check((value) => Number.isFinite(Date.parse(value)), A_TIME),
);

/** Accepts a list of at most 1,024 items. */
export const listOf = <T>(item: v.GenericSchema<unknown, T>): v.GenericSchema<unknown, T[]> =>
  v.pipe(v.array(item), v.maxLength(1024));

import type { JsonPrimitive } from "./value.ts";

/**
 * Data that an author hands over, and that nobody changes: its lists and fields may be readonly, on
 * every level.
 */
export type Given<T> =
  | T
  | (T extends JsonPrimitive | undefined
      ? T
      : T extends object
        ? { readonly [Key in keyof T]: Given<T[Key]> }
        : T);

/** JSON as an author builds it. A field without a value is left out. */
export type GivenJson = JsonPrimitive | undefined | readonly GivenJson[] | GivenObject;

/** A JSON object as an author builds it. */
export type GivenObject = { readonly [key: string]: GivenJson };

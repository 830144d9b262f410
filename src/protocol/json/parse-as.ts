import * as v from "valibot";

/**
 * Reads JSON text of a known shape; undefined when the text has another one. Contract: never
 * throws.
 */
export function parseJsonAs<T>(schema: v.GenericSchema<unknown, T>, text: string): T | undefined {
  try {
    const parsed = v.safeParse(schema, JSON.parse(text));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}

import * as v from "valibot";
import type { ProviderId } from "../identity/ids.ts";

/** A provider id. It is part of storage keys and of model names: short and without separators. */
export const providerId = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]{1,64}$/),
  v.transform((id) => id as ProviderId),
);

/** Reads a provider id; undefined when the text is no valid id. */
export function parseProviderId(text: string): ProviderId | undefined {
  const parsed = v.safeParse(providerId, text);
  return parsed.success ? parsed.output : undefined;
}

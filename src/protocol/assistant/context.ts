import * as v from "valibot";
import { nestsTooDeep } from "../json/guard.ts";
import { recordOf } from "../json/record.ts";
import { isJsonObject, type JsonObject } from "../json/value.ts";
import { utf8Bytes } from "../text/encoding.ts";
import { replaceHalves } from "../text/whole-characters.ts";

/** Largest context of a request. Unit: bytes of JSON in UTF-8. */
const MAX_REQUEST_BYTES = 8 * 1024;
/** Largest data that the hook may give. Unit: UTF-16 code units of JSON. */
const MAX_HOOK_CHARS = 32 * 1024;

/** Accepts the context that a client sends with its request. It is untrusted. */
export const requestContext = v.pipe(
  v.custom<JsonObject>(isJsonObject, "a JSON object"),
  v.check(
    (context) => utf8Bytes(JSON.stringify(context)) <= MAX_REQUEST_BYTES,
    "at most 8,192 bytes of JSON",
  ),
);

/** What the deployment's hook gave for one run. */
export interface HookContext {
  /** Values of the template variables `{{context.<name>}}`. */
  readonly variables: Readonly<Record<string, string>>;
  /** What the model reads as labelled data. */
  readonly data?: JsonObject | undefined;
  /** Nobody but the deployment wrote these values. */
  readonly isTrusted?: boolean | undefined;
}

const hookContext = v.strictObject({
  variables: v.optional(
    v.pipe(
      recordOf(
        v.pipe(v.string(), v.regex(/^[a-zA-Z]\w{0,62}$/)),
        v.pipe(v.string(), v.maxLength(512)),
      ),
      v.maxEntries(64),
    ),
    {},
  ),
  data: v.optional(v.custom<JsonObject>(isJsonObject)),
  isTrusted: v.optional(v.boolean()),
});

/**
 * Reads what the hook answered; undefined when it is no JSON, too large or of another shape.
 * Contract: never throws.
 */
export function parseHookContext(answer: unknown): HookContext | undefined {
  try {
    const text = JSON.stringify(answer);
    if (text.length > MAX_HOOK_CHARS || nestsTooDeep(text)) return undefined;
    const parsed = v.safeParse(hookContext, replaceHalves(JSON.parse(text) as JsonObject));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}

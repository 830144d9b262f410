const MAX_CHARS = 255;
/** Printable ASCII without a comma, which would make two headers look like one key. */
const BARE = /^[!#-+\--\x3a\x3c-\x7e]+$/;
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])+)"$/;

/**
 * Reads an `Idempotency-Key` header: a quoted string as in the IETF draft
 * (draft-ietf-httpapi-idempotency-key-header-07, section 2.1), or the same text without quotes, as
 * most clients send it. Both forms of one text are one key.
 * Contract: undefined for any other form, for an empty key, and for more than 255 characters.
 */
export function parseRequestKey(header: string): string | undefined {
  const quoted = QUOTED.exec(header)?.[1]?.replace(/\\(["\\])/g, "$1");
  const key = quoted ?? (BARE.test(header) ? header : undefined);
  return key !== undefined && key.length <= MAX_CHARS ? key : undefined;
}

import { readValues } from "../../protocol/text/fill-text.ts";
import { say, sayWords, type Text } from "./say.ts";
import { sayKnown, type Worded } from "./say-known.ts";

const MISMATCH: Text = "expected {what}, got {kind}";
const EXPECTED: Worded = {
  texts: [
    "at least {value}",
    "at most {value}",
    "more than {value}",
    "less than {value}",
    "anything but {value}",
    "something that is not empty",
    "no such field",
    "this field",
    "a valid value",
  ],
};
const KINDS: Worded = {
  texts: [
    "a string of {count} characters",
    "an array of {count}",
    "an object",
    "a number",
    "a boolean",
  ],
};
/** The runtime words the end of a call as a sentence of the table. */
const SENTENCE = /^[a-z]+ .* /;

/**
 * Says what the runtime found wrong with a call or with one of its fields in the language of the
 * page. The message of an author stays as it is.
 */
export function sayError(message: string): string {
  const { what, kind } = readValues(MISMATCH, message) ?? {};
  if (what === undefined || kind === undefined) {
    return SENTENCE.test(message) ? sayWords(message) : message;
  }
  return say(MISMATCH, { what: sayKnown(what, EXPECTED), kind: sayKnown(kind, KINDS) });
}

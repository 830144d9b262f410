import * as v from "valibot";
import { parseJsonAs } from "../json/parse-as.ts";
import { principal } from "./api-token.ts";

/** Accepts a person of development. Without scopes, the person has all that exist. */
export const developmentPerson = v.strictObject({
  ...principal.entries,
  scopes: v.optional(principal.entries.scopes),
});
export type DevelopmentPerson = v.InferOutput<typeof developmentPerson>;

const development = v.strictObject({
  people: v.pipe(v.array(developmentPerson), v.minLength(1)),
  secret: v.pipe(v.string(), v.minLength(32)),
});

/** The people who need no token in `npm run dev`, and the secret of the development server. */
export interface Development {
  readonly people: readonly DevelopmentPerson[];
  readonly secret: string;
}

/** Carries the secret of the development server, which adds it to the requests that it admits. */
export const DEVELOPER_HEADER = "x-interlock-developer";

/**
 * Says who acts. A client names a person of `tenant/people.json`; the development server replaces
 * the name by the actor id.
 */
export const ACTING_HEADER = "x-interlock-as";

/** Reads the people of development from JSON; undefined when the text is no valid list. */
export function parseDevelopment(text: string): Development | undefined {
  return parseJsonAs(development, text);
}

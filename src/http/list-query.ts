import * as v from "valibot";
import type { CursorScope } from "../capabilities/tenant.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import type { ListPosition, ListPage } from "../protocol/list/page.ts";
import { problem } from "./problem.ts";
import type { AuthorisedRequest } from "./authorise.ts";

const DEFAULT_LIMIT = "25";
const MAX_LIMIT = 100;
/** No filter has a longer value. */
const MAX_VALUE_CHARS = 256;

const shortText = v.pipe(v.string(), v.nonEmpty(), v.maxLength(MAX_VALUE_CHARS));

/** A time in ISO 8601, UTC, to the second or the millisecond. */
const instant = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/),
  v.transform((text) => Date.parse(text)),
  v.safeInteger(),
);

/** Query parameters of lists, as the text that they come in. */
export const parameters = {
  limit: v.optional(
    v.pipe(v.string(), v.regex(/^[1-9]\d{0,2}$/), v.transform(Number), v.maxValue(MAX_LIMIT)),
    DEFAULT_LIMIT,
  ),
  cursor: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(1_024))),
  text: v.optional(shortText),
  instant: v.optional(instant),
  flag: v.optional(
    v.pipe(
      v.picklist(["true", "false"]),
      v.transform((text) => text === "true"),
    ),
    "false",
  ),
} as const;

/**
 * Reads the query of a list. Contract: never throws; an unknown parameter, one that comes twice and one that does not
 * fit are refused, for whoever misspells a filter must not be shown everything.
 */
export function readQuery<T>(
  request: Request,
  schema: v.GenericSchema<unknown, T>,
): Result<T, Response> {
  const { searchParams } = new URL(request.url);
  const entries = [...searchParams];
  if (new Set(searchParams.keys()).size < entries.length) {
    return fail(problem("query_invalid", { detail: "A parameter comes twice." }));
  }
  const parsed = v.safeParse(schema, Object.fromEntries(entries), { abortEarly: true });
  if (parsed.success) return ok(parsed.output);
  const [issue] = parsed.issues;
  const name = issue.type === "strict_object" ? undefined : issue.path?.[0]?.key;
  const detail =
    typeof name === "string" ? `The parameter ${name} does not fit.` : "A parameter is not known.";
  return fail(problem("query_invalid", { detail }));
}

/** Reads the place that a cursor names in the very same list; undefined without a cursor. */
export async function readCursor<P = ListPosition>(
  { services }: AuthorisedRequest,
  cursor: string | undefined,
  scope: CursorScope,
): Promise<Result<P | undefined, Response>> {
  if (cursor === undefined) return ok(undefined);
  const place = await services.cursors.read(cursor, scope);
  if (place === undefined) {
    const detail = "Begin again without it; it belongs to one caller's list with its filters.";
    return fail(problem("cursor_invalid", { detail }));
  }
  // Only who holds the secret wrote it.
  return ok(JSON.parse(place) as P);
}

/** Names where a slice goes on. */
export async function nextOf<T, P>(
  { services }: AuthorisedRequest,
  { next }: ListPage<T, P>,
  scope: CursorScope,
): Promise<{ readonly next?: string }> {
  return next === undefined
    ? {}
    : { next: await services.cursors.issue(JSON.stringify(next), scope) };
}

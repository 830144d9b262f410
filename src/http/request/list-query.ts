import * as v from "valibot";
import type { CursorScope } from "../../capabilities/tenant.ts";
import { MAX_ACTOR_CHARS, type TenantId } from "../../protocol/identity/ids.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { ListPosition, ListPage } from "../../protocol/list/page.ts";
import { problem } from "./problem.ts";
import type { AuthorisedRequest } from "./authorise.ts";

const DEFAULT_LIMIT = "25";
const MAX_LIMIT = 100;
/** Other filters are shorter than the id of an actor. */
const shortText = v.pipe(v.string(), v.nonEmpty(), v.maxLength(MAX_ACTOR_CHARS));

/** A time in ISO 8601, UTC, to the second or the millisecond. */
const instant = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/),
  v.transform((text) => Date.parse(text)),
  v.safeInteger(),
);

/** Schemas of the query parameters of lists. */
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

/** What a list of calls can be narrowed to: one tool, one person, one assistant. */
export const about = {
  tool: parameters.text,
  person: parameters.text,
  assistant: parameters.text,
} as const;

/**
 * Reads the query of a list.
 * Contract: never throws. Refuses unknown, repeated and invalid parameters, so that a misspelled
 * filter never shows the whole list.
 */
export function readQuery<T>(
  request: Request,
  schema: v.GenericSchema<unknown, T>,
): Result<T, Response> {
  const { searchParams } = new URL(request.url);
  const entries = [...searchParams];
  if (new Set(searchParams.keys()).size < entries.length) {
    return fail(
      problem("query_invalid", { detail: "A parameter is repeated. Send each parameter once." }),
    );
  }
  const parsed = v.safeParse(schema, Object.fromEntries(entries), { abortEarly: true });
  if (parsed.success) return ok(parsed.output);
  const [issue] = parsed.issues;
  const name = issue.type === "strict_object" ? undefined : issue.path?.[0]?.key;
  const detail =
    typeof name === "string"
      ? `The value of ${name} is not valid. Correct it.`
      : "A parameter is unknown. Remove it.";
  return fail(problem("query_invalid", { detail }));
}

/** Reads the position of a cursor in the same list; undefined without a cursor. */
export async function readCursor<P = ListPosition>(
  { services }: AuthorisedRequest,
  cursor: string | undefined,
  scope: CursorScope,
): Promise<Result<P | undefined, Response>> {
  if (cursor === undefined) return ok(undefined);
  const place = await services.cursors.read(cursor, scope);
  if (place === undefined) {
    const detail =
      "A cursor belongs to one caller, list and set of filters. Start again without a cursor.";
    return fail(problem("cursor_invalid", { detail }));
  }
  // The cursor was sealed, so its text comes from this deployment.
  return ok(JSON.parse(place) as P);
}

/** Makes the cursor for the next page; nothing on the last page. */
export async function nextCursor<T, P>(
  { services }: AuthorisedRequest,
  { next }: ListPage<T, P>,
  scope: CursorScope,
): Promise<{ readonly next?: string }> {
  return next === undefined
    ? {}
    : { next: await services.cursors.issue(JSON.stringify(next), scope) };
}

interface Listing<Query extends PageQuery, Item> {
  /** Names the list, and its member of the answer. */
  readonly name: string;
  readonly query: Query;
  /** What else decides which entries the caller gets. */
  readonly sees?: unknown;
  readonly list: (tenantId: TenantId, query: PositionedQuery<Query>) => Promise<ListPage<Item>>;
  /** What an entry shows; without it, all of it. */
  readonly show?: (item: Item) => unknown;
}

interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

type PositionedQuery<Query> = Omit<Query, "cursor"> & {
  readonly after: ListPosition | undefined;
};

/** Answers one page of a list. Its cursor holds for this caller and for the same filters. */
export async function answerPage<Query extends PageQuery, Item>(
  authorised: AuthorisedRequest,
  { name, query, sees, list, show = (item) => item }: Listing<Query, Item>,
): Promise<Response> {
  const { tenantId } = authorised.principal;
  const { cursor, ...filters } = query;
  const scope = [name, tenantId, JSON.stringify({ ...filters, limit: 0, sees })];
  const after = await readCursor(authorised, cursor, scope);
  if (!after.ok) return after.failure;
  const page = await list(tenantId, { ...filters, after: after.value });
  const next = await nextCursor(authorised, page, scope);
  return Response.json({ [name]: page.items.map((item) => show(item)), ...next });
}

import { EXAMPLES } from "./examples.ts";
import { OTHER_HEADERS, REQUEST_HEADERS } from "./headers.ts";
import { inPath, inQuery } from "./parameters.ts";
import type { HandlerFacts } from "./read-handlers.ts";
import { writeAnswers, writeRefusals, type ReadRoute } from "./responses.ts";
import { findCheck, toSchema } from "./schemas-of-checks.ts";
import type { Schema, TypeSchemas } from "./schemas-of-types.ts";

/** Writes one operation of the document. */
export async function writeOperation(read: ReadRoute, types: TypeSchemas): Promise<object> {
  const { path, method, route, options, handler, facts } = read;
  const body = await writeBody(read);
  return {
    operationId: nameOf(method, path),
    tags: [tagOf(path)],
    summary: firstSentence(handler.summary),
    description: describe(read),
    security: route ? [{ token: [route.scope] }] : [],
    parameters: [...inPath(path), ...(await queryOf(facts)), ...headersOf(read)],
    ...body,
    responses: { ...writeAnswers(read, types), ...writeRefusals(read) },
    ...(options.length > 0 && { "x-options": options }),
  };
}

/** `GET /v1/runs/:id/events` is `getRunsByIdEvents`. */
function nameOf(method: string, path: string): string {
  const words = path
    .replace(/^\/v1/, "")
    .split(/[/-]/)
    .filter(Boolean)
    .map((word) =>
      word.replace(/^:/, "by-").replaceAll(/(?:^|-)(\w)/g, (_, a: string) => a.toUpperCase()),
    );
  return method.toLowerCase() + words.join("");
}

/** What lies below the first segment of a path. */
export const TAGS: Readonly<Record<string, string>> = {
  chat: "Start a run, and read its answer as a stream.",
  runs: "Read, follow, steer and stop runs.",
  conversations: "Go on with a chat on any device.",
  tools: "What models may call, and calls without a model.",
  approvals: "Calls that wait for people.",
  consents: "What people allowed to happen again.",
  outcomes: "Calls of which nobody knows whether they happened.",
  escalations: "What runs cannot settle themselves.",
  notifications: "What a receiver of notifications does not have.",
  feedback: "What people think of answers.",
  policy: "What models and callers may do.",
  assistants: "How models behave.",
  page: "What a page shows of its assistant.",
  connections: "Credentials that tools use.",
  providers: "A tenant's own model providers.",
  "embed-tokens": "Tokens for pages.",
  audit: "What happened, and the proof.",
  people: "Export and erase what is kept of one person.",
  workspaces: "Business data that changes.",
  metrics: "What runs counted.",
  "other protocols": "The addresses that the clients of other protocols expect.",
  healthz: "Whether the Worker answers.",
};

const OTHERS = /^\/(?:api|agui|v1\/responses|v1\/chat\/completions|v1\/models)/;

/** The first segment that names a thing; the addresses of other protocols are one group. */
export function tagOf(path: string): string {
  if (OTHERS.test(path)) return "other protocols";
  return path.split("/").find((word) => word !== "" && word !== "v1") ?? "";
}

function firstSentence(text: string): string {
  return (/^[\s\S]*?[.;:](?= |$)/.exec(text)?.[0] ?? text).replace(/[.;:]$/, "");
}

function describe({ handler, route, options, facts }: ReadRoute): string {
  const embed = route?.refusesEmbedTokens === true && "Embed tokens are not accepted here.";
  const scope = route && `Needs the scope \`${route.scope}\`.`;
  const option = options.length > 0 && `Only where the deployment names ${options.join(", or ")}.`;
  const key =
    facts.headers.has("idempotency-key") && "May be repeated safely with an Idempotency-Key.";
  return [handler.summary, scope, embed, key, option].filter(Boolean).join(" ");
}

async function queryOf({ queries, parameters }: HandlerFacts): Promise<readonly object[]> {
  const found = new Map<string, Schema | undefined>(
    [...parameters].map((name) => [name, undefined]),
  );
  for (const query of queries) {
    const { properties = {} } = toSchema(await findCheck(query)) as {
      readonly properties?: Readonly<Record<string, Schema>>;
    };
    for (const [name, schema] of Object.entries(properties)) found.set(name, schema);
  }
  return [...found].map(([name, schema]) => inQuery(name, schema));
}

function headersOf({ facts, method, path }: ReadRoute): readonly object[] {
  return [...facts.headers]
    .filter((name) => !OTHER_HEADERS.has(name))
    .map((read) => {
      const known = REQUEST_HEADERS[read];
      if (!known) throw new Error(`scripts/openapi/headers.ts needs a text for ${read}.`);
      // A read knows a tag, and no revision; the id of a change is a number.
      const isTag = method === "GET" && read === "if-none-match";
      const isChange = read === "last-event-id" && path.endsWith("/changes");
      const example = isTag ? '"sha256:0"' : isChange ? "7" : known.example;
      return Object.assign({ in: "header" }, known, { example });
    });
}

async function writeBody({ facts, path, method }: ReadRoute): Promise<object> {
  const [check] = facts.bodies;
  if (check === undefined) return {};
  const isLarge = facts.names.has("maxBodyBytes");
  const example = EXAMPLES[`${method} ${path}`];
  if (example === undefined) throw new Error(`${method} ${path} needs an example of its body.`);
  return {
    requestBody: {
      required: true,
      description: isLarge
        ? "At most 1 MiB; to a model that takes files, at most 4 MiB and 64 KiB."
        : "At most 1 MiB.",
      content: { "application/json": { schema: toSchema(await findCheck(check)), example } },
    },
  };
}

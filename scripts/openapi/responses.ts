import type { Type } from "typescript/unstable/sync";
import type { Route } from "../../src/http/request/authorise.ts";
import { PROBLEMS, type ProblemCode } from "../../src/http/request/problem-codes.ts";
import type { ListedRoute } from "./all-routes.ts";
import { RESPONSE_HEADERS } from "./headers.ts";
import { exampleOf } from "./example-of.ts";
import type { Handler, HandlerFacts } from "./read-handlers.ts";
import type { Schema, TypeSchemas } from "./schemas-of-types.ts";

/** A route, and what its code does. */
export interface ReadRoute extends Omit<ListedRoute, "route"> {
  /** Undefined for an address that asks for no token. */
  readonly route: Route | undefined;
  readonly handler: Pick<Handler, "summary">;
  /** Its own, and those of every route. */
  readonly facts: HandlerFacts;
  /** What it answers, by status; see `Answers`. */
  readonly answers: ReadonlyMap<string, Type>;
}

const MEANINGS: Readonly<Record<string, string>> = {
  200: "The answer.",
  202: "Accepted; what was asked for goes on.",
  204: "Done, or nothing to show. There is no body.",
  304: "The caller has this version.",
};

/** Writes what a route answers when it refuses nothing. */
export function writeAnswers(read: ReadRoute, types: TypeSchemas): object {
  const responses = [...read.answers].map(([status, type]) => {
    const { media, schema } = shapeOf(type, types);
    const content = {
      ...(schema && { "application/json": withExample(schema, types) }),
      ...Object.fromEntries(media.map((name) => [name, textOf(name)])),
    };
    const isStream = media.includes("text/event-stream");
    const headers = writeHeaders(read, Number(status), isStream);
    const hasBody = Object.keys(content).length > 0;
    return [
      status,
      { description: MEANINGS[status], ...headers, ...(hasBody && { content }) },
    ] as const;
  });
  return Object.fromEntries(responses);
}

function withExample(schema: Schema, { components }: TypeSchemas): object {
  return { schema, example: exampleOf(schema, components) };
}

/** Describes an answer that is a text; OpenAPI 3.1 has no word for the lines of a stream. */
function textOf(media: string): object {
  const schema = { type: "string" };
  if (media !== "application/x-ndjson") return { schema };
  return { schema: { ...schema, description: "Lines of JSON, each a StreamedLine." } };
}

/** Separates the media types of an answer from what it is in JSON; null stands for no body. */
function shapeOf(
  type: Type,
  types: TypeSchemas,
): { readonly media: readonly string[]; readonly schema?: Schema } {
  const parts = type.isUnionType() ? type.getTypes() : [type];
  const media = parts.flatMap((part) => (part.isStringLiteralType() ? [part.value] : []));
  if (media.length === 0) {
    const schema = types.of(type);
    return schema["type"] === "null" ? { media } : { media, schema };
  }
  const schemas = parts.filter((part) => !part.isStringLiteralType()).map((part) => types.of(part));
  const [schema] = schemas;
  if (!schema) return { media };
  return { media, schema: schemas.length === 1 ? schema : { anyOf: schemas } };
}

/** Writes what a route refuses, by status. */
export function writeRefusals(read: ReadRoute): object {
  const codes = [...read.facts.codes] as ProblemCode[];
  const statuses = [...new Set(codes.map((code) => PROBLEMS[code].status))].toSorted(
    (a, b) => a - b,
  );
  const hasOtherShape = read.route?.formatRefusal !== undefined;
  const responses = statuses.map((status) => {
    const own = codes.filter((code) => PROBLEMS[code].status === status).toSorted();
    const content = hasOtherShape
      ? { "application/json": { schema: openAIRefusal(own), examples: examplesOf(own, "openai.") } }
      : {
          "application/problem+json": {
            schema: refusal(status, own),
            examples: examplesOf(own),
          },
        };
    const description = own.map((code) => `\`${code}\``).join(", ");
    return [`${status}`, { description, ...writeHeaders(read, status, false), content }] as const;
  });
  return Object.fromEntries(responses);
}

const examplesOf = (codes: readonly string[], prefix = "") =>
  Object.fromEntries(
    codes.map((code) => [code, { $ref: `#/components/examples/${prefix}${code}` }]),
  );

/** Writes the components to which the examples of refusals refer. */
export function writeExamples(routes: readonly ReadRoute[]): object {
  const examples = routes.flatMap(({ route, facts }) =>
    [...facts.codes].map((named) => {
      const code = named as ProblemCode;
      const { status, title } = PROBLEMS[code];
      if (!route?.formatRefusal) {
        return [code, { value: { type: "about:blank", title, status, code } }] as const;
      }
      const type = status >= 500 ? "server_error" : "invalid_request_error";
      const error = { message: title, type, param: null, code };
      return [`openai.${code}`, { value: { error } }] as const;
    }),
  );
  return Object.fromEntries(examples.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function refusal(status: number, codes: readonly string[]): Schema {
  const properties = { status: { const: status }, code: { enum: codes } };
  return { allOf: [{ $ref: "#/components/schemas/Problem" }, { properties }] };
}

function openAIRefusal(codes: readonly string[]): Schema {
  const properties = { error: { properties: { code: { enum: codes } } } };
  return { allOf: [{ $ref: "#/components/schemas/OpenAIRefusal" }, { properties }] };
}

function writeHeaders(read: ReadRoute, status: number, isStream: boolean): object {
  const { path, route, facts } = read;
  const hasOtherShape = route?.formatRefusal !== undefined;
  const isRetried = [...facts.retried].some((code) => statusOf(code) === status);
  const { names: reached } = facts;
  const answer = { path, status, isStream, hasOtherShape, isRetried, names: reached };
  const names = Object.keys(RESPONSE_HEADERS).filter((name) =>
    RESPONSE_HEADERS[name]?.isOf(answer),
  );
  if (names.length === 0) return {};
  const toReference = (name: string) => [name, { $ref: `#/components/headers/${name}` }] as const;
  return { headers: Object.fromEntries(names.map(toReference)) };
}

function statusOf(code: string): number {
  return PROBLEMS[code as ProblemCode].status;
}

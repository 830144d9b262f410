import { PROBLEMS } from "../../src/http/request/problem-codes.ts";
import type { ApiDocument } from "./document.ts";
import { printType } from "./print-type.ts";
import type { Schema } from "./schemas-of-types.ts";

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Content {
  readonly schema: Schema;
}

interface Operation {
  readonly tags: readonly [string];
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, Content>> }>
  >;
}

/** Of the client itself: it makes the key, and follows streams. */
const OWN_HEADERS = new Set(["Idempotency-Key", "Last-Event-ID"]);

/** Prints the types of the typed client: every operation but those of other protocols. */
export function writeClientTypes(document: ApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      return [`${method.toUpperCase()} ${path}`, operation as Operation] as const;
    }),
  );
  const own = operations.filter(([, { tags }]) => tags[0] !== "other protocols");
  const printed = own.map(
    ([name, operation]) =>
      `  /** ${operation.description} */\n  readonly ${JSON.stringify(name)}: {\n` +
      `    readonly request: ${printRequest(operation)};\n` +
      `    readonly answer: ${printAnswer(operation)};\n  };`,
  );
  const { schemas } = document["components"] as { readonly schemas: Record<string, Schema> };
  const codes = Object.keys(PROBLEMS).map((code) => JSON.stringify(code));
  return [
    "// Made from the document of the HTTP API by scripts/build-openapi.ts.",
    `export type ProblemCode = ${codes.join(" | ")};`,
    ...Object.entries(schemas).map(([name, of]) => `export type ${name} = ${printType(of)};`),
    `export interface Operations {\n${printed.join("\n")}\n}`,
    "",
  ].join("\n\n");
}

function printRequest({ parameters, requestBody, responses }: Operation): string {
  // A read with a tag may answer 304, which has no value.
  const isLeftOut = ({ name }: Parameter): boolean =>
    OWN_HEADERS.has(name) || (name === "If-None-Match" && "304" in responses);
  const places = (["path", "query", "header"] as const).map((place) => {
    const given = parameters.filter((one) => one.in === place && !isLeftOut(one));
    const isNeeded = given.some(({ required }) => required);
    const fields = given.map(({ name, required, schema }) => {
      return `readonly ${JSON.stringify(name)}${required ? "" : "?"}: ${printType(schema)}`;
    });
    const name = `${place === "header" ? "headers" : place}${isNeeded ? "" : "?"}`;
    return given.length === 0 ? [] : [`readonly ${name}: { ${fields.join("; ")} }`];
  });
  const sent = requestBody?.content["application/json"];
  const body = sent ? [`readonly body: ${printType(sent.schema, {}, "    ")}`] : [];
  return `{ ${[...places.flat(), ...body].join("; ")} }`;
}

function printAnswer({ responses }: Operation): string {
  const answers = Object.entries(responses).flatMap(([status, { content = {} }]) => {
    if (!status.startsWith("2")) return [];
    const types = Object.keys(content);
    if (types.length === 0) return ["undefined"];
    const json = content["application/json"];
    const isOther = types.some((type) => type !== "application/json");
    const texts = json ? [printType(json.schema, {}, "    ")] : [];
    return isOther ? texts.concat("Response") : texts;
  });
  return [...new Set(answers)].join(" | ");
}

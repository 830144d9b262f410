import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Type } from "typescript/unstable/sync";
import { PACKAGE_FOLDER } from "../../cli/project/folders.ts";
import { PROBLEMS } from "../../src/http/request/problem-codes.ts";
import { listRoutes } from "./all-routes.ts";
import { RESPONSE_HEADERS } from "./headers.ts";
import { withSources, type Sources } from "./open-sources.ts";
import { tagOf, TAGS, writeOperation } from "./operation.ts";
import { HandlerReader, newFacts } from "./read-handlers.ts";
import { writeExamples, type ReadRoute } from "./responses.ts";
import { TypeSchemas } from "./schemas-of-types.ts";

/** A document of OpenAPI 3.1. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly [member: string]: unknown;
}

/** What every answer may be, whatever the route. */
const EVERYWHERE = ["internal_error", "not_configured", "storage_too_new", "storage_too_old"];
/** Functions whose refusals a route never answers. */
const NEVER_ANSWERED: Readonly<Record<string, readonly string[]>> = {
  // A call without a model is part of no conversation.
  "POST /v1/tools/:id/invoke": ["joinConversation"],
  // Without an answer there, the state shows less.
  "GET /v1/runs/:id": ["readAllowed"],
};

/** What a deployment names to take tools of clients; routes call it through the services. */
const PARTS_OF_CLIENTS = ["readTools", "continueRun"];

/**
 * Writes the document of every route that a deployment can have: routes and scopes from the table
 * of routes, bodies and queries from their checks, answers from the types in answers.ts, codes and
 * headers from the code of the handlers.
 * Fails: throws for a route that lacks one of them.
 */
export function writeDocument(): Promise<ApiDocument> {
  return withSources(describeRoutes);
}

async function describeRoutes(sources: Sources): Promise<ApiDocument> {
  const types = new TypeSchemas(sources.checker);
  const declared = new AnswerTypes(sources, types);
  const routes = readRoutes(sources, declared);
  const paths: Record<string, Record<string, object>> = {};
  for (const read of routes) {
    const path = read.path.replaceAll(/:(\w+)/g, "{$1}");
    const operation = await writeOperation(read, types);
    paths[path] = { ...paths[path], [read.method.toLowerCase()]: operation };
  }
  declared.addOthers();
  const { version, description } = readManifest();
  const tags = [...new Set(routes.map(({ path }) => tagOf(path)))];
  return {
    openapi: "3.1.1",
    info: {
      title: "Interlock",
      version,
      summary: description,
      description: INTRODUCTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "The deployment that serves this document." }],
    tags: tags.map((name) => ({ name, description: TAGS[name] })),
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer", description: TOKENS } },
      headers: Object.fromEntries(
        Object.entries(RESPONSE_HEADERS).map(([name, { description, example }]) => [
          name,
          { description, schema: { type: "string" }, example },
        ]),
      ),
      examples: writeExamples(routes),
      schemas: Object.fromEntries([...types.components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

function readManifest(): { readonly version: string; readonly description: string } {
  const text = readFileSync(join(PACKAGE_FOLDER, "package.json"), "utf8");
  return JSON.parse(text) as { readonly version: string; readonly description: string };
}

const INTRODUCTION =
  "The HTTP API of a deployment. Bodies are `application/json`. Every refusal is " +
  "`application/problem+json` with a stable `code`; the addresses of the client of OpenAI have " +
  "its shape instead. GET implies HEAD. docs/http.md is the guide to these routes. " +
  "Another address answers 404 `unknown_route`.";
const TOKENS =
  "A static token, a JWT of the deployment's identity provider, or an embed token of a page. An " +
  "operation names the scope that the token needs.";

function readRoutes(sources: Sources, declared: AnswerTypes): readonly ReadRoute[] {
  const reader = new HandlerReader(sources);
  const common = reader.factsOf(reader.functionOf("authorise"));
  const routes = listRoutes().map((listed): ReadRoute => {
    const { method, path, route } = listed;
    const handler = reader.find(route.handle, `${method} ${path}`);
    const without = (NEVER_ANSWERED[`${method} ${path}`] ?? []).map((name) =>
      reader.functionOf(name),
    );
    const facts = reader.factsOf(handler.node, without);
    const parts = facts.names.has("partsOf") ? PARTS_OF_CLIENTS : [];
    const others = parts.map((name) => reader.factsOf(reader.functionOf(name)));
    for (const { codes, retried } of [common, ...others]) {
      for (const code of codes) facts.codes.add(code);
      for (const code of retried) facts.retried.add(code);
    }
    for (const code of EVERYWHERE) facts.codes.add(code);
    if (facts.names.has("contracts")) facts.codes.add("tools_unavailable");
    const answers = declared.of(`${method} ${path}`);
    return Object.assign({ handler, facts, answers }, listed);
  });
  const health: ReadRoute = {
    path: "/healthz",
    method: "GET",
    route: undefined,
    options: [],
    handler: { summary: "Says that the Worker answers." },
    facts: newFacts(),
    answers: declared.of("GET /healthz"),
  };
  declared.checkAllUsed();
  checkAllCodes(routes);
  return [...routes, health];
}

/** Fails: throws for a code that no route answers. Only an unknown address has one of its own. */
function checkAllCodes(routes: readonly ReadRoute[]): void {
  const used = new Set(routes.flatMap(({ facts }) => [...facts.codes]));
  const left = Object.keys(PROBLEMS).filter((code) => code !== "unknown_route" && !used.has(code));
  if (left.length > 0) throw new Error(`No route answers ${left.join(", ")}.`);
}

/** The types of the answers, by route and status. */
class AnswerTypes {
  readonly #types: TypeSchemas;
  readonly #others: readonly Type[];
  readonly #left: Map<string, ReadonlyMap<string, Type>>;

  constructor({ checker, program }: Sources, types: TypeSchemas) {
    this.#types = types;
    const file = program.getSourceFile(join(PACKAGE_FOLDER, "scripts/openapi/answers.ts"));
    const module = file && checker.getSymbolAtLocation(file);
    const declared = new Map(
      [...(module?.getExports().values() ?? [])].map((symbol) => [symbol.name, symbol]),
    );
    const typeOf = (name: string): Type => {
      const symbol = declared.get(name);
      if (!symbol) throw new Error(`scripts/openapi/answers.ts exports no ${name}.`);
      return checker.getDeclaredTypeOfSymbol(symbol);
    };
    this.#others = ["Problem", "OpenAIRefusal", "StreamedLine"].map(typeOf);
    const byStatus = (type: Type) =>
      new Map(types.fieldsOf(type).map(([status, answer]) => [status.name, answer]));
    const fields = types.fieldsOf(typeOf("Answers"));
    this.#left = new Map(fields.map(([route, type]) => [route.name, byStatus(type)]));
  }

  /** Fails: throws for a route without answers. */
  of(route: string): ReadonlyMap<string, Type> {
    const answers = this.#left.get(route);
    if (!answers) throw new Error(`scripts/openapi/answers.ts says nothing of ${route}.`);
    this.#left.delete(route);
    return answers;
  }

  /** Fails: throws for answers without a route. */
  checkAllUsed(): void {
    const [left] = this.#left.keys();
    if (left !== undefined) throw new Error(`scripts/openapi/answers.ts: there is no ${left}.`);
  }

  /** Adds the types of what is no answer in JSON to a route: refusals, and the lines of streams. */
  addOthers(): void {
    for (const type of this.#others) this.#types.of(type);
  }
}

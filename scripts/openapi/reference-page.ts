import { TAGS } from "./operation.ts";
import type { ApiDocument } from "./document.ts";
import { printType } from "./print-type.ts";
import type { Schema } from "./schemas-of-types.ts";

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly schema: Schema;
}

interface Content {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: object;
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly tags: readonly [string];
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: {
    readonly description: string;
    readonly content: Readonly<Record<string, Content>>;
  };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly headers?: object;
        readonly content?: Readonly<Record<string, Content>>;
      }
    >
  >;
}

/** Writes the document as one page without scripts. Contract: every text is escaped. */
export function writePage(document: ApiDocument): string {
  const { info, components } = document as unknown as {
    readonly info: {
      readonly title: string;
      readonly version: string;
      readonly description: string;
    };
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const named = { path, method: method.toUpperCase() };
      return Object.assign(named, operation as Omit<Operation, "path" | "method">);
    }),
  );
  const groups = Object.groupBy(operations, ({ tags: [tag] }) => tag);
  const named = Object.entries(groups).map(([tag, list = []]) => ({ tag, list }));
  const body = [
    `<nav aria-label="Routes">${named.map(writeMenu).join("")}`,
    `<p><a href="#types">Types</a></p></nav><main>`,
    `<h1>${escape(info.title)} HTTP API <small>${escape(info.version)}</small></h1>`,
    `<p>${writeText(info.description)}</p>`,
    `<p>The same as a document of OpenAPI 3.1: <a href="/openapi.json">openapi.json</a>.</p>`,
    ...named.map(writeGroup),
    `<h2 id="types">Types</h2>`,
    ...Object.entries(components.schemas).map(writeComponent),
    `</main>`,
  ];
  return `${HEAD}${body.join("\n")}</body>\n</html>\n`;
}

const HEAD = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>HTTP API · Interlock</title>
    <link rel="stylesheet" href="/docs.css" />
  </head>
  <body>
`;

interface Group {
  readonly tag: string;
  readonly list: readonly Operation[];
}

function writeMenu({ tag, list }: Group): string {
  const items = list.map(
    ({ operationId, method, path }) =>
      `<li><a href="#${operationId}"><b>${method}</b> ${escape(path)}</a></li>`,
  );
  return `<details><summary>${escape(tag)}</summary><ul>${items.join("")}</ul></details>`;
}

function writeGroup({ tag, list }: Group): string {
  const text = escape(TAGS[tag] ?? "");
  return `<h2>${escape(tag)}</h2><p>${text}</p>${list.map(writeOperation).join("\n")}`;
}

function writeOperation(operation: Operation): string {
  const { operationId, method, path, description, parameters, requestBody, responses } = operation;
  const rows = Object.entries(responses).map(
    ([status, { description: said, headers, content }]) => {
      const names = Object.keys(headers ?? {}).map((name) => `<code>${escape(name)}</code>`);
      const types = Object.keys(content ?? {}).filter((type) => !type.includes("json"));
      const more = [types.map(escape).join(", "), names.join(" ")].filter((part) => part !== "");
      return `<tr><th scope="row">${status}</th><td>${writeText(said)}</td><td>${more.join("<br />")}</td></tr>`;
    },
  );
  const answers = Object.entries(responses).flatMap(([status, { content = {} }]) => {
    const json = content["application/json"];
    return json && !json.examples ? [writeShape(`Answer ${status}`, json)] : [];
  });
  const sent = requestBody?.content["application/json"];
  return `<section id="${operationId}">
<h3><b>${method}</b> <code>${escape(path)}</code></h3>
<p>${writeText(description)}</p>
${parameters.length > 0 ? writeParameters(parameters) : ""}
${sent ? writeShape(`Body: ${requestBody?.description ?? ""}`, sent) : ""}
${answers.join("\n")}
<table><thead><tr><th scope="col">Status</th><th scope="col">Meaning, or codes</th><th scope="col">Type and headers</th></tr></thead>
<tbody>${rows.join("")}</tbody></table>
</section>`;
}

function writeParameters(parameters: readonly Parameter[]): string {
  const rows = parameters.map(
    ({ name, in: place, description, schema }) =>
      `<tr><th scope="row"><code>${escape(name)}</code></th><td>${place}</td><td>${writeText(description)}</td><td><code>${writeType(schema)}</code></td></tr>`,
  );
  return `<table><thead><tr><th scope="col">Parameter</th><th scope="col">In</th><th scope="col">Meaning</th><th scope="col">Type</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function writeShape(title: string, { schema, example }: Content): string {
  const sample =
    example === undefined
      ? ""
      : `<p>Example:</p><pre>${escape(JSON.stringify(example, null, 2))}</pre>`;
  return `<details><summary>${escape(title)}</summary><pre>${writeType(schema)}</pre>${sample}</details>`;
}

function writeComponent([name, schema]: readonly [string, Schema]): string {
  const id = `type-${escape(name)}`;
  return `<section id="${id}"><h3><code>${escape(name)}</code></h3><pre>${writeType(schema)}</pre></section>`;
}

function writeType(schema: Schema): string {
  const link = (name: string) => `<a href="#type-${escape(name)}">${escape(name)}</a>`;
  return printType(schema, { link, escape });
}

/** Escapes a text, and shows what stands in backticks as code. */
function writeText(text: string): string {
  return escape(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

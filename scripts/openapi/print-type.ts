import type { Schema } from "./schemas-of-types.ts";

/** How a type is printed. */
export interface PrintOptions {
  /** What stands for the name of a component. */
  readonly link?: (name: string) => string;
  /** What stands for any other text. */
  readonly escape?: (text: string) => string;
}

const SCALARS: Readonly<Record<string, string>> = {
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  null: "null",
};

/** Prints a schema as a type of TypeScript. Descriptions become comments. */
export function printType(schema: Schema, options: PrintOptions = {}, indent = ""): string {
  const { link = (name) => name, escape = (text) => text } = options;
  const print = (one: unknown): string => printType(one as Schema, options, indent);
  const { $ref, anyOf, oneOf = anyOf, allOf, enum: values, type } = schema;
  if (typeof $ref === "string") return link($ref.replace("#/components/schemas/", ""));
  if ("const" in schema) return escape(JSON.stringify(schema["const"]));
  if (Array.isArray(values)) {
    return values.map((value) => escape(JSON.stringify(value))).join(" | ");
  }
  if (Array.isArray(oneOf)) return [...new Set(oneOf.map(print))].join(" | ");
  if (Array.isArray(allOf)) return allOf.map((one: Schema) => bracket(one, print(one))).join(" & ");
  if (type === "array") return printList(schema, print);
  if (type === "object") return printObject(schema, options, indent);
  return SCALARS[String(type)] ?? "unknown";
}

function printList({ items, prefixItems }: Schema, print: (one: unknown) => string): string {
  if (Array.isArray(prefixItems)) return `readonly [${prefixItems.map(print).join(", ")}]`;
  const item = (items ?? {}) as Schema;
  return `readonly ${bracket(item, print(item))}[]`;
}

/** Puts a type of several parts into brackets. */
function bracket({ type, enum: values, anyOf, oneOf, allOf }: Schema, text: string): string {
  return type === "array" || (values ?? anyOf ?? oneOf ?? allOf) ? `(${text})` : text;
}

function printObject(schema: Schema, options: PrintOptions, indent: string): string {
  const { escape = (text: string) => text } = options;
  const inner = `${indent}  `;
  const {
    properties = {},
    required = [],
    additionalProperties: other = {},
  } = schema as {
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly required?: readonly string[];
    readonly additionalProperties?: boolean | Schema;
  };
  const fields = Object.entries(properties).map(([name, field]) => {
    const { description } = field;
    const comment =
      typeof description === "string" ? `${inner}/** ${escape(description)} */\n` : "";
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    const mark = required.includes(name) ? "" : "?";
    return `${comment}${inner}readonly ${escape(key)}${mark}: ${printType(field, options, inner)};`;
  });
  // The other fields of an object with some of its own are of no meaning here.
  if (other !== false && fields.length === 0) {
    const value = other === true ? "unknown" : printType(other, options, inner);
    fields.push(`${inner}readonly [name: string]: ${value};`);
  }
  return fields.length === 0 ? "{}" : `{\n${fields.join("\n")}\n${indent}}`;
}

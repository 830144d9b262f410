import { join } from "node:path";
import { toJsonSchema } from "@valibot/to-json-schema";
import type * as v from "valibot";
import { PACKAGE_FOLDER } from "../../cli/project/folders.ts";
import { connectionBody } from "../../src/protocol/connection/stored.ts";
import { tenantProviderBody } from "../../src/protocol/provider/tenant-provider.ts";
import { chatRequestBody } from "../../src/protocol/run/chat-request.ts";
import type { Schema } from "./schemas-of-types.ts";

/** Bodies whose check a deployment makes. */
const MADE: Readonly<Record<string, v.GenericSchema>> = {
  requestBody: chatRequestBody,
  "services.connectionBody": connectionBody({ allowsLoopback: false }),
  "services.providerBody": tenantProviderBody({ allowsLoopback: false }),
};

/**
 * Finds the check that reads a query or a body: `<file>#<export>`, or a name in MADE.
 * Fails: throws for a check that its module does not export.
 */
export async function findCheck(name: string): Promise<v.GenericSchema> {
  const [file = "", exported = ""] = name.split("#");
  const made = MADE[exported || file];
  if (made) return made;
  const module = (await import(join(PACKAGE_FOLDER, file))) as Record<string, v.GenericSchema>;
  const check = module[exported];
  if (!check) throw new Error(`Export ${exported} of ${file}: the document describes it.`);
  return check;
}

/**
 * Writes a check as the schema of what it takes. JSON Schema cannot say what a function checks:
 * the schema allows it, and its description has the words of the refusal.
 */
export function toSchema(check: v.GenericSchema): Schema {
  const { $schema: _, ...schema } = toJsonSchema(check, {
    target: "draft-2020-12",
    typeMode: "input",
    errorMode: "ignore",
    overrideSchema: ({ valibotSchema, jsonSchema }) =>
      withEntries(valibotSchema, jsonSchema as Schema) ??
      withText(valibotSchema, jsonSchema as Schema),
    overrideAction: ({ valibotAction, jsonSchema }) =>
      withText(valibotAction, jsonSchema as Schema),
  });
  // A copy, because a schema shares its lists with its check.
  return JSON.parse(JSON.stringify(schema), withoutSafeLimits) as Schema;
}

/** The limits of exact numbers say nothing of the API. */
function withoutSafeLimits(_key: string, value: unknown): unknown {
  return Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER ? undefined : value;
}

interface Described {
  readonly type: string;
  readonly message?: unknown;
}

/** A check by a function names in its message what it expects. */
function withText({ type, message }: Described, schema: Schema): Schema | undefined {
  if (!["check", "custom"].includes(type) || typeof message !== "string") return undefined;
  if (type === "custom" && message === "a JSON object") return { ...schema, type: "object" };
  const { description: said } = schema;
  return { ...schema, description: typeof said === "string" ? `${said}; ${message}` : message };
}

/** A list whose entries may be an id alone: a pipe first makes an object of the text. */
function withEntries(check: v.GenericSchema, schema: Schema): Schema | undefined {
  const { item } = check as { readonly item?: { readonly pipe?: readonly Described[] } };
  const [first, change, entry] = item?.pipe ?? [];
  if (first?.type !== "unknown" || change?.type !== "transform" || !entry) return undefined;
  const object = toSchema(entry as unknown as v.GenericSchema);
  return { ...schema, items: { anyOf: [{ type: "string" }, object] } };
}

import * as v from "valibot";
import { assistantDocument } from "../../src/protocol/assistant/document.ts";
import { assistantId } from "../../src/protocol/assistant/id.ts";
import { connectionBody, connectionId } from "../../src/protocol/connection/stored.ts";
import { toPointer } from "../../src/protocol/json/pointer.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/json/value.ts";
import { toolPolicyDocument } from "../../src/protocol/policy/document.ts";
import { providerId } from "../../src/protocol/provider/provider-id.ts";
import { tenantProviderBody } from "../../src/protocol/provider/tenant-provider.ts";
import { formatExpectation } from "../../src/protocol/text/format-expectation.ts";
import { CommandError } from "../command.ts";
import { placeOf, readTenantFiles } from "./tenant-files.ts";

/** The kinds of documents, in the order in which they are stored: each may name earlier ones. */
export const KINDS = ["connections", "providers", "policy", "assistants"] as const;
export type Kind = (typeof KINDS)[number];

/** Where a document is: `tenant/<key>.json` of the project, `/v1/<key>` of the deployment. */
export type DocumentKey = string;

/** A document of the project, checked. */
export interface LocalDocument {
  readonly kind: Kind;
  readonly key: DocumentKey;
  /** With every default, and with the names of variables in place of secrets. */
  readonly shown: JsonObject;
  /** What is sent. Fails: throws a CommandError when a secret is not set or has a wrong form. */
  readonly body: (readVariable: (name: string) => string) => JsonValue;
}

interface Rules {
  readonly id: v.GenericSchema<unknown, string>;
  readonly schema: v.GenericSchema<unknown, unknown>;
  /** Fields that hold `{"variable": "NAME"}` in the file, and a secret in the body. */
  readonly secrets: readonly string[];
}

const RULES: Readonly<Record<Kind, Rules>> = {
  connections: {
    id: connectionId,
    schema: connectionBody({ allowsLoopback: true }),
    secrets: ["token", "value", "secret"],
  },
  providers: {
    id: providerId,
    schema: tenantProviderBody({ allowsLoopback: true }),
    secrets: ["apiKey"],
  },
  policy: { id: v.literal("policy"), schema: toolPolicyDocument, secrets: [] },
  assistants: { id: assistantId, schema: assistantDocument, secrets: [] },
};
/** Fits every form of a secret. */
const PLACEHOLDER = `whsec_${"placeholder+".repeat(3)}`;

const reference = v.strictObject({ variable: v.pipe(v.string(), v.regex(/^[A-Za-z_]\w*$/)) });

/**
 * The kind of a key: `assistants` of `assistants/default`. Undefined for what is no key.
 * Threat: a deployment that lists an id like `../../package`, which would be the path of a file.
 */
export function kindOf(key: DocumentKey): Kind | undefined {
  const [first, ...rest] = key.split("/");
  const kind = KINDS.find((known) => known === first);
  if (kind === undefined) return undefined;
  const isKey = kind === "policy" ? rest.length === 0 : v.is(RULES[kind].id, rest.join("/"));
  return isKey ? kind : undefined;
}

/**
 * Reads and checks every document of the project's folder `tenant`.
 * Fails: throws a CommandError that names the file, the line and the field.
 */
export function readLocalDocuments(project: string): readonly LocalDocument[] {
  const files = readTenantFiles(project);
  return KINDS.flatMap((kind) => {
    if (kind !== "policy") {
      return [...files[kind]].map(([id, document]) =>
        readLocalDocument({ kind, id, document, project }),
      );
    }
    const { policy: document } = files;
    return document === undefined ? [] : [readLocalDocument({ kind, id: kind, document, project })];
  });
}

interface GivenDocument {
  readonly kind: Kind;
  readonly id: string;
  readonly document: unknown;
  /** The folder that has the file of the document. Absent for a document of a deployment. */
  readonly project?: string;
}

/** Reads and checks one document. Fails: as `readLocalDocuments`. */
export function readLocalDocument({ kind, id, document, project }: GivenDocument): LocalDocument {
  const place = (pointer: string): string =>
    project === undefined ? `tenant/${key}.json` : placeOf(project, key, pointer);
  const key = kind === "policy" ? kind : `${kind}/${id}`;
  if (!v.is(RULES[kind].id, id)) throw new CommandError(`tenant/${key}.json: this is no id.`);
  const { secrets } = RULES[kind];
  const names = readReferences(key, document, secrets);
  const complete = (readSecret: (name: string) => string): JsonObject => {
    if (!isJsonObject(document)) return parse(kind, document, place);
    const values = Object.entries(names).map(([field, name]) => [field, readSecret(name)]);
    return parse(kind, { ...document, ...Object.fromEntries(values) }, place);
  };
  const references = Object.entries(names).map(([field, variable]) => [field, { variable }]);
  const shown = { ...complete(() => PLACEHOLDER), ...Object.fromEntries(references) } as JsonObject;
  return { kind, key, shown, body: complete };
}

/** Fills in the defaults of a stored document. A form that this version does not know stays. */
export function normalise(kind: Kind, document: JsonObject): JsonObject {
  const placeholders = Object.fromEntries(
    RULES[kind].secrets.filter((field) => field in document).map((field) => [field, PLACEHOLDER]),
  );
  const read = v.safeParse(RULES[kind].schema, { ...document, ...placeholders });
  if (!read.success) return document;
  const references = Object.keys(placeholders).map((field) => [field, document[field]]);
  return { ...toJson(read.output), ...Object.fromEntries(references) } as JsonObject;
}

function parse(
  kind: Kind,
  document: unknown,
  placeOfField: (pointer: string) => string,
): JsonObject {
  const read = v.safeParse(RULES[kind].schema, document, {
    abortEarly: true,
    message: formatExpectation,
  });
  if (read.success) return toJson(read.output);
  const [issue] = read.issues;
  const pointer = toPointer((issue.path ?? []).map((part) => part.key));
  throw new CommandError(`${placeOfField(pointer)}: ${pointer || "it"}: expected ${issue.message}`);
}

/** Threat: a secret in a file that is committed. The text does not repeat it. */
function readReferences(
  key: DocumentKey,
  document: unknown,
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  if (!isJsonObject(document)) return {};
  const given = secrets.filter((field) => Object.hasOwn(document, field));
  return Object.fromEntries(
    given.map((field) => {
      const read = v.safeParse(reference, document[field]);
      if (read.success) return [field, read.output.variable];
      throw new CommandError(
        `tenant/${key}.json: /${field} must name a variable: {"variable": "NAME"}. ` +
          "A secret does not belong into this file.",
      );
    }),
  );
}

/** Drops what is undefined. */
function toJson(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

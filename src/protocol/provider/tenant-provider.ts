import * as v from "valibot";
import { MAX_SECRET_CHARS } from "../connection/stored.ts";
import type { ProviderId } from "../identity/ids.ts";
import { parseJsonAs } from "../json/parse-as.ts";
import { MODEL_WIRE_IDS, type ModelWireId } from "../model/declaration.ts";
import { type AddressRules, parseProviderAddress } from "./address.ts";

/** Most models that a tenant allows at one provider. */
const MAX_MODELS = 32;
/** A shorter text is a part of ordinary words, so it could not be hidden in an answer. */
const MIN_KEY_CHARS = 8;
const MAX_ADDRESS_CHARS = 2_048;

const providerId = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]{1,64}$/),
  v.transform((id) => id as ProviderId),
);

/** Reads a provider id; undefined when the text is no valid id. */
export function parseProviderId(text: string): ProviderId | undefined {
  const parsed = v.safeParse(providerId, text);
  return parsed.success ? parsed.output : undefined;
}

const allowedModel = v.strictObject({
  name: v.pipe(
    v.string(),
    v.regex(/^[\x21-\x7e]{1,128}$/, "1 to 128 printable ASCII characters, without spaces"),
  ),
  effort: v.optional(v.pipe(v.string(), v.regex(/^[a-z0-9_-]{1,32}$/, "a word such as low"))),
  strictTools: v.optional(v.boolean()),
  maxTokensField: v.optional(v.picklist(["max_completion_tokens", "max_tokens"])),
});

/**
 * Makes the closed schema of the body of `PUT /v1/providers/:id`. The key is printable ASCII that
 * JSON does not escape, so that it has one form in headers and in answers.
 */
export function tenantProviderBody(
  rules: AddressRules,
  wires: readonly ModelWireId[] = MODEL_WIRE_IDS,
) {
  return v.strictObject({
    wire: v.picklist(wires, `one of ${wires.join(", ")}`),
    baseUrl: v.pipe(
      v.string(),
      v.maxLength(MAX_ADDRESS_CHARS),
      v.transform((text) => parseProviderAddress(text, rules)),
      v.string("a public https address with a host name, and no credentials, query or fragment"),
    ),
    apiKey: v.pipe(
      v.string(),
      v.minLength(MIN_KEY_CHARS, `${MIN_KEY_CHARS} characters or more`),
      v.maxLength(MAX_SECRET_CHARS),
      v.regex(
        /^[\x21\x23-\x5b\x5d-\x7e]+$/,
        "printable ASCII characters, without spaces, quotation marks and backslashes",
      ),
    ),
    models: v.pipe(
      v.array(allowedModel),
      v.minLength(1),
      v.maxLength(MAX_MODELS),
      v.check(
        (models) => new Set(models.map(({ name }) => name)).size === models.length,
        "each model once",
      ),
    ),
  });
}

/** All names in the body. Any other name that a client sends may be the key itself. */
export const PROVIDER_FIELDS: ReadonlySet<string> = new Set([
  "wire",
  "baseUrl",
  "apiKey",
  "models",
  ...Array.from({ length: MAX_MODELS }, (_, index) => `${index}`),
  ...Object.keys(allowedModel.entries),
]);

/** A tenant's own model provider before it is sealed, its key included. */
export type TenantProvider = v.InferOutput<ReturnType<typeof tenantProviderBody>>;
/** What people may read of it. */
export type ProviderTerms = Omit<TenantProvider, "apiKey">;

/** Reads an opened provider; undefined when its form or its address is not allowed. */
export function parseTenantProvider(text: string, rules: AddressRules): TenantProvider | undefined {
  return parseJsonAs(tenantProviderBody(rules), text);
}

import * as v from "valibot";
import { MAX_SECRET_CHARS } from "../connection/stored.ts";
import { parseJsonAs } from "../json/parse-as.ts";
import { modelFields, word } from "../model/check-declaration.ts";
import { type DeclaredModel, MODEL_WIRE_IDS, type ModelWireId } from "../model/declaration.ts";
import { abilitiesOf } from "../model/families.ts";
import { type AddressRules, parseServiceAddress } from "../connection/service-address.ts";
import { formatTenantModel, parseTenantModel, type TenantModel } from "./tenant-model.ts";

/** Most models that a tenant allows at one provider. */
const MAX_MODELS = 32;
/** A shorter text is a part of ordinary words, so it could not be masked in an answer. */
const MIN_KEY_CHARS = 8;
const MAX_ADDRESS_CHARS = 2_048;

/** Most models that answer in place of one. */
const MAX_FALLBACKS = 8;

const allowedModel = v.strictObject({
  name: word,
  ...modelFields,
  fallback: v.exactOptional(v.pipe(v.array(word), v.maxLength(MAX_FALLBACKS))),
});

/**
 * Makes the closed schema of the body of `PUT /v1/providers/:id`. The key is printable ASCII that
 * JSON does not escape, so that it has one form in headers and in answers.
 */
export function tenantProviderBody(
  rules: AddressRules,
  wires: readonly ModelWireId[] = MODEL_WIRE_IDS,
) {
  return v.pipe(
    v.strictObject({
      wire: v.picklist(wires, `one of ${wires.join(", ")}`),
      baseUrl: v.pipe(
        v.string(),
        v.maxLength(MAX_ADDRESS_CHARS),
        v.transform((text) => parseServiceAddress(text, rules)),
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
    }),
    v.check(
      ({ wire, models }) => wire !== "anthropic" || models.every(hasWholePrices),
      "prices with cacheWrite, because the wire anthropic bills cache writes",
    ),
    v.check(
      ({ models }) => models.every((model) => fallbacksOf(model, models)),
      "as fallbacks other models of this provider, each once, with prices in the same currency",
    ),
    v.check(
      ({ wire, models }) => wire !== "openai" || models.every(({ summaries }) => !summaries),
      "no summaries on the wire openai, which has none",
    ),
  );
}

type AllowedModel = v.InferOutput<typeof allowedModel>;

/**
 * Finds the fallbacks of a model in the list of its provider. Undefined when one of them is not
 * there, or when a budget of money could not cover all of them together.
 */
function fallbacksOf(
  model: AllowedModel,
  models: readonly AllowedModel[],
): readonly AllowedModel[] | undefined {
  const { fallback = [], prices } = model;
  const found = models.filter((other) => other !== model && fallback.includes(other.name));
  const isSound =
    found.length === fallback.length &&
    found.every((other) => other.prices?.currency === prices?.currency);
  return isSound ? found : undefined;
}

function hasWholePrices({ prices }: AllowedModel): boolean {
  return prices === undefined || prices.cacheWrite !== undefined;
}

/** All names in the body. Any other name that a client sends may be the key itself. */
export const PROVIDER_FIELDS: ReadonlySet<string> = new Set([
  "wire",
  "baseUrl",
  "apiKey",
  "models",
  ...Array.from({ length: MAX_MODELS }, (_, index) => `${index}`),
  ...Object.keys(allowedModel.entries),
  ...Object.keys(modelFields.can.wrapped.entries),
  ...Object.keys(modelFields.prices.wrapped.entries),
]);

/** A tenant's own model provider before it is sealed, its key included. */
export type TenantProvider = v.InferOutput<ReturnType<typeof tenantProviderBody>>;
/** What people may read of it. */
export type ProviderTerms = Omit<TenantProvider, "apiKey">;

/** Reads an opened provider; undefined when its form or its address is not allowed. */
export function parseTenantProvider(text: string, rules: AddressRules): TenantProvider | undefined {
  return parseJsonAs(tenantProviderBody(rules), text);
}

/**
 * Declares a model of a tenant's provider; undefined when the tenant does not allow it. Only
 * models of the same provider answer in its place.
 */
export function declareTenantModel(
  { wire, models }: ProviderTerms,
  asked: TenantModel,
): DeclaredModel | undefined {
  const allowed = models.find(({ name }) => name === asked.name);
  if (!allowed) return undefined;
  const { name, can: own, effort, prices, summaries, fallback = [] } = allowed;
  const can = { ...abilitiesOf(wire, name), ...own };
  return {
    id: formatTenantModel(asked),
    wire,
    name,
    // The tenant may know a level that this version does not know.
    can: { ...can, efforts: [...new Set([...can.efforts, ...(effort ? [effort] : [])])] },
    ...(effort !== undefined && { effort }),
    ...(prices && { prices }),
    ...(summaries && { summaries }),
    fallback: fallback.map((other) => formatTenantModel({ ...asked, name: other })),
  };
}

/** Declares a model of a tenant's provider, and then those that may answer in its place. */
export function declareAnswering(
  terms: ProviderTerms,
  asked: TenantModel,
): readonly [DeclaredModel, ...DeclaredModel[]] | undefined {
  const model = declareTenantModel(terms, asked);
  if (!model) return undefined;
  const others = model.fallback.flatMap((id) => {
    const other = parseTenantModel(id);
    return (other && declareTenantModel(terms, other)) ?? [];
  });
  return [model, ...others];
}

import * as v from "valibot";
import { isTenantModel } from "../provider/tenant-model.ts";
import { MODEL_WIRE_IDS, type ModelDeclaration } from "./declaration.ts";
import { declareModel } from "./declare-model.ts";

/** Accepts a name or an id of a model, and a level of effort. */
export const word = v.pipe(
  v.string(),
  v.regex(/^[\x21-\x2B\x2D-\x7E]{1,128}$/, "1 to 128 characters without spaces and commas"),
);
const price = v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(1_000_000));
const settingName = (ending: string) =>
  v.pipe(
    v.string(),
    v.regex(new RegExp(`^[A-Z][A-Z0-9_]*${ending}$`), `a name ending in ${ending}`),
  );

/** The schema fields that say what a model can take and what it costs. */
export const modelFields = {
  can: v.exactOptional(
    v.strictObject({
      tools: v.exactOptional(v.boolean()),
      images: v.exactOptional(v.boolean()),
      files: v.exactOptional(v.boolean()),
      maxImageTokens: v.exactOptional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
      maxFileTokens: v.exactOptional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
      efforts: v.exactOptional(v.pipe(v.array(word), v.maxLength(16))),
      temperature: v.exactOptional(v.boolean()),
      forcedTools: v.exactOptional(v.boolean()),
      strictTools: v.exactOptional(v.boolean()),
      maxTokensField: v.exactOptional(v.picklist(["max_completion_tokens", "max_tokens"])),
    }),
  ),
  effort: v.exactOptional(word),
  summaries: v.exactOptional(v.boolean()),
  prices: v.exactOptional(
    v.strictObject({
      currency: v.pipe(v.string(), v.regex(/^[A-Z]{3}$/, "three capital letters, ISO 4217")),
      input: price,
      cachedInput: v.exactOptional(price),
      cacheWrite: v.exactOptional(price),
      output: price,
    }),
  ),
} as const;

const schema = v.strictObject({
  id: v.pipe(
    word,
    v.check((id) => !isTenantModel(id), "an id that does not begin with providers/"),
  ),
  wire: v.picklist(MODEL_WIRE_IDS),
  name: v.optional(word),
  address: v.optional(settingName("_BASE_URL")),
  // Threat: a declaration names another secret, and the secret leaves as a provider's key.
  secret: v.optional(settingName("_API_KEY")),
  ...modelFields,
  fallback: v.optional(v.array(word)),
});

/** Finds what is wrong with one declaration. Contract: pure; one sentence for each problem. */
export function checkDeclaration(declaration: ModelDeclaration): readonly string[] {
  const parsed = v.safeParse(schema, declaration);
  const where = `The model ${JSON.stringify(declaration.id)}`;
  if (!parsed.success) {
    return parsed.issues.map(
      (issue) => `${where} is not valid at ${v.getDotPath(issue) ?? "its top"}: ${issue.message}`,
    );
  }
  const { wire, can, effort, summaries, prices } = declareModel(declaration);
  const { efforts } = can;
  const problems: string[] = [];
  if (effort !== undefined && !efforts.includes(effort)) {
    const known = efforts.length === 0 ? "none" : efforts.join(", ");
    problems.push(`${where} has the effort ${effort}, but its can.efforts are: ${known}`);
  }
  if (wire === "openai" && summaries) {
    problems.push(`${where} asks for summaries, which its wire openai does not have`);
  }
  if (wire === "anthropic" && prices && prices.cacheWrite === undefined) {
    problems.push(`${where} needs prices.cacheWrite, because its wire bills cache writes`);
  }
  return problems;
}

import { MODEL_WIRE_IDS, type ModelAbilities, type ModelDeclaration } from "./declaration.ts";
import { abilitiesOf } from "./families.ts";

/**
 * Parses a list such as `responses:gpt-6.1-terra?effort=low, anthropic:claude-sonnet-5, my-model`.
 * An entry that is the id of a model in `declared` is this model. Every other entry without a wire
 * is on the wire `openai`.
 * Contract: pure; undefined for an empty list or an unknown setting.
 */
export function parseModelList(
  text: string,
  declared: readonly ModelDeclaration[],
): readonly ModelDeclaration[] | undefined {
  const entries = text.split(",").flatMap((entry) => entry.trim() || []);
  const models = entries.flatMap(
    (entry) => declared.find(({ id }) => id === entry) ?? parseEntry(entry) ?? [],
  );
  return models.length > 0 && models.length === entries.length ? models : undefined;
}

function parseEntry(entry: string): ModelDeclaration | undefined {
  const [address = "", query = "", ...more] = entry.split("?");
  const wire = MODEL_WIRE_IDS.find((id) => address.startsWith(`${id}:`));
  const id = wire ? address.slice(wire.length + 1) : address;
  if (id === "" || more.length > 0) return undefined;
  return withSettings({ id, wire: wire ?? "openai" }, new URLSearchParams(query));
}

function withSettings(
  model: ModelDeclaration,
  query: URLSearchParams,
): ModelDeclaration | undefined {
  const { effort, strictTools, summaries, maxTokensField, ...unknown } = Object.fromEntries(query);
  if (Object.keys(unknown).length > 0 || effort === "") return undefined;
  if (![strictTools, summaries].every(isBooleanOrAbsent)) return undefined;
  const isField = maxTokensField === "max_tokens" || maxTokensField === "max_completion_tokens";
  if (maxTokensField !== undefined && !isField) return undefined;
  // The operator may know a level that this version does not know.
  const { efforts } = abilitiesOf(model.wire, model.id);
  const can: Partial<ModelAbilities> = {
    ...(effort !== undefined && { efforts: [...new Set([...efforts, effort])] }),
    ...(strictTools !== undefined && { strictTools: strictTools === "true" }),
    ...(isField && { maxTokensField }),
  };
  return {
    ...model,
    can,
    ...(effort !== undefined && { effort }),
    ...(summaries !== undefined && { summaries: summaries === "true" }),
  };
}

function isBooleanOrAbsent(value: string | undefined): boolean {
  return value === undefined || value === "true" || value === "false";
}

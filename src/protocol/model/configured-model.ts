/** Model wires that this version knows; each names the format of a family of providers. */
export const MODEL_WIRE_IDS = ["openai", "responses", "anthropic"] as const;
export type ModelWireId = (typeof MODEL_WIRE_IDS)[number];

/** What an endpoint takes beyond the least that its wire asks for. */
export interface ModelSettings {
  /** Sends `strict: true` with each tool whose schema fits. Default: true. */
  readonly strictTools?: boolean;
  /** The field with the longest answer, on the wire `openai`. Default: `max_completion_tokens`. */
  readonly maxTokensField?: "max_completion_tokens" | "max_tokens";
  /** How much the model reasons, in the provider's word. Default: the provider's own. */
  readonly effort?: string;
}

/** A model that requests may name. */
export interface ConfiguredModel {
  /** The provider's name of the model, which requests use too. */
  readonly id: string;
  readonly wire: ModelWireId;
  readonly settings: ModelSettings;
}

/** The first is the default. */
export type ConfiguredModels = readonly [ConfiguredModel, ...ConfiguredModel[]];

/**
 * Parses a list such as `responses:gpt-6.1-terra?effort=low, anthropic:claude-sonnet-5, my-model`.
 * A model without a wire is on the wire `openai`.
 * Contract: pure; undefined for an empty list, a repeated name or an unknown setting.
 */
export function parseModels(text: string): ConfiguredModels | undefined {
  const entries = text.split(",").flatMap((entry) => entry.trim() || []);
  const models = entries.flatMap((entry) => parseModel(entry) ?? []);
  const [first, ...rest] = models;
  const isValid = models.length === entries.length && !hasRepeated(models);
  return first && isValid ? [first, ...rest] : undefined;
}

function parseModel(entry: string): ConfiguredModel | undefined {
  const [address = "", query = "", ...more] = entry.split("?");
  const wire = MODEL_WIRE_IDS.find((id) => address.startsWith(`${id}:`));
  const id = wire ? address.slice(wire.length + 1) : address;
  const settings = parseSettings(new URLSearchParams(query));
  return id !== "" && settings && more.length === 0
    ? { id, wire: wire ?? "openai", settings }
    : undefined;
}

function parseSettings(query: URLSearchParams): ModelSettings | undefined {
  const { effort, strictTools, maxTokensField, ...unknown } = Object.fromEntries(query);
  if (Object.keys(unknown).length > 0 || effort === "") return undefined;
  if (strictTools !== undefined && !/^(?:true|false)$/.test(strictTools)) return undefined;
  const isField = maxTokensField === "max_tokens" || maxTokensField === "max_completion_tokens";
  if (maxTokensField !== undefined && !isField) return undefined;
  return {
    ...(effort !== undefined && { effort }),
    ...(strictTools !== undefined && { strictTools: strictTools === "true" }),
    ...(isField && { maxTokensField }),
  };
}

function hasRepeated(models: readonly ConfiguredModel[]): boolean {
  return new Set(models.map(({ id }) => id)).size < models.length;
}

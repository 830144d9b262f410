/** Model wires that this version knows; each names the format of a family of providers. */
export const MODEL_WIRE_IDS = ["openai", "responses", "anthropic"] as const;
export type ModelWireId = (typeof MODEL_WIRE_IDS)[number];

/** What a model can take. Interlock sends nothing that a model cannot take. */
export interface ModelAbilities {
  readonly tools: boolean;
  /** Images in messages. */
  readonly images: boolean;
  /** Documents in messages, such as PDF. */
  readonly files: boolean;
  /** The most input tokens that one image can cost. Absent: unknown. */
  readonly maxImageTokens?: number;
  /** The most input tokens that one document can cost. Absent: unknown. */
  readonly maxFileTokens?: number;
  /** Levels of `effort`, in the provider's words. Empty: the model takes none. */
  readonly efforts: readonly string[];
  readonly temperature: boolean;
  /** A request may force the model to call a tool. */
  readonly forcedTools: boolean;
  /** Tools may go out with `strict: true`. The wire `anthropic` never sends that. */
  readonly strictTools: boolean;
  /** The field with the longest answer, on the wire `openai`. */
  readonly maxTokensField: "max_completion_tokens" | "max_tokens";
}

/** Prices of a million tokens each. */
export interface ModelPrices {
  /** ISO 4217. */
  readonly currency: string;
  readonly input: number;
  /** Absent: the price of input. */
  readonly cachedInput?: number;
  /** Absent: the price of input. The wire `anthropic` requires it. */
  readonly cacheWrite?: number;
  readonly output: number;
}

/** A model as the code of a deployment declares it. See docs/providers.md. */
export interface ModelDeclaration {
  /** The name that requests use. */
  readonly id: string;
  readonly wire: ModelWireId;
  /** The provider's name of the model. Default: the id. */
  readonly name?: string;
  /** Setting with the provider's base address; it ends in `_BASE_URL`. Default: by wire. */
  readonly address?: string;
  /** Secret with the provider's key; it ends in `_API_KEY`. Default: by wire. */
  readonly secret?: string;
  /** What differs from the abilities of the model's family. */
  readonly can?: Partial<ModelAbilities>;
  /** How much the model reasons. Default: the provider's own. */
  readonly effort?: string;
  /** Asks for reasoning summaries and shows them. The wire `openai` has none. Default: false. */
  readonly summaries?: boolean;
  readonly prices?: ModelPrices;
  /** Ids of the models that answer in its place while it cannot, in order. */
  readonly fallback?: readonly string[];
}

/** What is known of a model that a run may ask, with every default written out. */
export interface DeclaredModel {
  readonly id: string;
  readonly wire: ModelWireId;
  readonly name: string;
  readonly can: ModelAbilities;
  readonly effort?: string;
  readonly summaries?: boolean;
  readonly prices?: ModelPrices;
  /** All models that may answer in its place, in order. Those of a fallback follow it. */
  readonly fallback: readonly string[];
}

/** A model of the deployment: the environment holds its address and its key. */
export interface DeployedModel extends DeclaredModel {
  readonly address: string;
  readonly secret: string;
}

/** What the offline model answers to one user message. */
export type OfflineAnswer =
  | { readonly content: string }
  | { readonly toolCalls: readonly OfflineCall[] };

/** A tool call of the offline model. `arguments` is JSON. */
export interface OfflineCall {
  readonly name: string;
  readonly arguments: string;
}

/** Prepared answers of the offline model: an entry of the file of `interlock dev --offline`. */
export interface OfflineScenario {
  readonly name: string;
  /** The user message that the scenario answers. The first scenario that fits is taken. */
  readonly asked: RegExp;
  /** One answer for each model call since the user message. The last answer repeats. */
  readonly steps: readonly ((turn: OfflineTurn) => OfflineAnswer)[];
  /** Default: reading speed. Unit: tokens per second. */
  readonly speed?: number;
}

/** One user message and what followed it, as the offline model sees them. */
export interface OfflineTurn {
  readonly question: string;
  /** `result_payload.data` of each observation since the user message, in order. */
  readonly results: readonly Record<string, unknown>[];
  /** A call since the user message ended without data. */
  readonly hasFailed: boolean;
  /** Model calls since the user message. */
  readonly calls: number;
  /** All texts that the model was sent, oldest first. */
  readonly told: string;
}

/** Tokens that a provider billed. Units: tokens. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Usage of a run or a call before its first token. */
export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

/** Adds two usages, field by field. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
  };
}

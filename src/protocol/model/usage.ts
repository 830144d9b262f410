/** Tokens that a provider billed. Units: tokens. A detail that is absent was 0 or not reported. */
export interface Usage {
  /** All input, cached input included. */
  readonly inputTokens: number;
  /** All output, reasoning included. */
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
}

/** Usage of a run or a call before its first token. */
export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

/** Adds two usages, field by field. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...sum("cachedInputTokens", a, b),
    ...sum("cacheWriteTokens", a, b),
    ...sum("reasoningTokens", a, b),
  };
}

function sum(field: keyof Usage, a: Usage, b: Usage): Partial<Usage> {
  const tokens = (a[field] ?? 0) + (b[field] ?? 0);
  return tokens > 0 ? { [field]: tokens } : {};
}

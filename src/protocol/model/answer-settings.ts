/** Whether the model calls tools: as it likes, never, at least one, or this one. */
export type ToolChoice = "auto" | "none" | "required" | { readonly tool: string };

/**
 * How a model should answer. A model that cannot take a setting answers without it, because a
 * fallback may be able to do less.
 */
export interface AnswerSettings {
  /** A level of the model's `can.efforts`. Absent: the model's declared effort. */
  readonly effort?: string;
  readonly temperature?: number;
  readonly toolChoice?: ToolChoice;
}

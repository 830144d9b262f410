/** The texts of a system, in the order of documents. */
export const SYSTEM_TEXTS = [
  "purpose",
  "coreMechanics",
  "currentState",
  "targetState",
  "inputs",
  "outputs",
  "failureStates",
  "scalingBehavior",
  "implementationNotes",
  "openQuestions",
] as const;
export type SystemText = (typeof SYSTEM_TEXTS)[number];

export const CRITICALITIES = ["core", "important", "later"] as const;
export const SYSTEM_STATUSES = ["draft", "active", "deprecated"] as const;
/** A short name. */
export const SLUG = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** Fields of a new system. A field that is left out is empty, or as new systems are. */
export type NewSystem = { readonly [Field in SystemText]?: string } & {
  readonly name: string;
  readonly systemSlug: string;
  readonly mvpCriticality?: (typeof CRITICALITIES)[number];
  readonly status?: (typeof SYSTEM_STATUSES)[number];
};

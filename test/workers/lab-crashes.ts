/** Ends the life of a run's object, once, in the middle of a tool; by run id. */
export const crashes = new Map<string, () => void>();

/** Where `interlock dev` listens unless it is told otherwise. */
export const DEFAULT_PORT = 8787;

import type { Random } from "../capabilities/system.ts";

/** Chance as the platform has it; good for spreading load, not for secrets. */
export const systemRandom: Random = { fraction: () => Math.random() };

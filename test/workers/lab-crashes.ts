import { beforeEachFile } from "../shared/fresh-state.ts";

/** Crashes a run's object once, in the middle of a tool. By run id. */
export const crashes = new Map<string, () => void>();
beforeEachFile(() => crashes.clear());

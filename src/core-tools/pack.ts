import { calculate } from "./calculate.ts";
import { generateTitle } from "./generate-title.ts";
import { getCurrentTime } from "./get-current-time.ts";

/** The contracts of the core pack; a runtime binds them to its own capabilities. */
export const CORE_TOOLS = [getCurrentTime, generateTitle, calculate] as const;

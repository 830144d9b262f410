import { PASSED, type Gate } from "./gate.ts";
import type { ArgumentsSubject } from "./subjects.ts";

/** The gate `rules`: checks the contract's semantic rules. Fails: SEMANTIC_INVALIDITY. */
export const checkRules: Gate<ArgumentsSubject> = {
  name: "rules",
  check({ tool, args }) {
    const ruled = tool.checkRules(args);
    return ruled.ok ? PASSED : ruled;
  },
};

import { ok } from "../../protocol/outcome/result.ts";
import type { Gate } from "./gate.ts";
import type { ArgumentsSubject } from "./subjects.ts";

/**
 * Gate 4: checks the arguments against the contract's schema in one pass: shape, then types, then
 * bounds. The tool owns its schema; the runner never touches it (seeds/000 #27).
 * Fails: STRUCTURAL_VIOLATION, TYPE_MISMATCH, OUT_OF_BOUNDS; the most basic class wins.
 */
export const checkArguments: Gate<ArgumentsSubject> = {
  name: "arguments",
  check({ tool, args }) {
    const valid = tool.validateInput(args);
    return valid.ok ? ok({ args: valid.value }) : valid;
  },
};

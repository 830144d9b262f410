import { MAX_TOOL_ARGUMENTS_BYTES, MAX_TOOL_RESULT_BYTES } from "../../protocol/identity/ids.ts";
import type { CallLimits } from "../../protocol/conversation/client-history.ts";
import type { RegisteredContract } from "./registered.ts";

const DEFAULTS: CallLimits = {
  maxArgumentsBytes: MAX_TOOL_ARGUMENTS_BYTES,
  maxResultBytes: MAX_TOOL_RESULT_BYTES,
  maxTextBytes: MAX_TOOL_RESULT_BYTES,
};

/**
 * Finds the limits of one tool's calls: those of its contract, of several versions the highest, and
 * the default for a tool that is not registered.
 * Contract: pure. The limits do not depend on policy, so a policy change refuses no earlier result.
 */
export function callLimitsOf(
  contracts: readonly RegisteredContract[],
  toolName: string,
): CallLimits {
  const limits = contracts.flatMap(({ spec, contract: { runtime, content } }) =>
    spec.name === toolName ? { ...runtime, ...content } : [],
  );
  const highest = (name: keyof CallLimits): number =>
    Math.max(...(limits.length === 0 ? [DEFAULTS] : limits).map((limit) => limit[name]));
  return {
    maxArgumentsBytes: highest("maxArgumentsBytes"),
    maxResultBytes: highest("maxResultBytes"),
    maxTextBytes: highest("maxTextBytes"),
  };
}

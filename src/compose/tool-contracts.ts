import type { AnyToolContract } from "../contracts/definition.ts";
import { CORE_TOOLS } from "../tools/core/pack.ts";

/** Every tool of this deployment, the one list that the Worker and the runs are given (seeds/000 #24). */
export const TOOL_CONTRACTS: readonly AnyToolContract[] = [...CORE_TOOLS];

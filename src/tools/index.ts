import type { AnyToolContract } from "../contracts/definition.ts";
import { CORE_TOOLS } from "./core/pack.ts";
import { GAMEPLAN_TOOLS } from "./gameplan/pack.ts";

/** Every tool of this deployment. The build compiles the contracts of this list. */
export const TOOLS: readonly AnyToolContract[] = [...CORE_TOOLS, ...GAMEPLAN_TOOLS];

import { type AnyToolContract, askPerson, CORE_TOOLS } from "interlock-edge/tools";
import { GAMEPLAN_TOOLS } from "../../apps/gameplan/tools/pack.ts";

/** Every tool of this deployment. The build compiles the contracts of this list. */
export const TOOLS: readonly AnyToolContract[] = [...CORE_TOOLS, askPerson, ...GAMEPLAN_TOOLS];

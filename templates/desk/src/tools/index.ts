import { CORE_TOOLS, type AnyToolContract } from "interlock-edge/tools";
import { DESK_TOOLS } from "./desk/pack.ts";

/** Every tool of this deployment. `tenant/policy.json` says which of them models may call. */
export const TOOLS: readonly AnyToolContract[] = [...CORE_TOOLS, ...DESK_TOOLS];

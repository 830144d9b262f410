import type { HookedCall, ToolHook, Veto } from "../../capabilities/tool-hook.ts";
import type { ObservationObject, ToolFailure } from "../../protocol/observation.ts";
import { ok, type Result } from "../../protocol/result.ts";
import { failCall } from "../tool-failure.ts";

const BROKEN: Veto = { code: "hook_failed", message: "a check of this deployment failed" };

/** Asks the deployment's hooks before a call; the first veto ends it. Fails: POLICY_VIOLATION. */
export async function askBefore(
  hooks: readonly ToolHook[],
  call: HookedCall,
): Promise<Result<null, ToolFailure>> {
  for (const hook of hooks) {
    const veto = await vetoOf(() => hook.before?.(call));
    if (veto) return failCall("POLICY_VIOLATION", veto);
  }
  return ok(null);
}

/** Asks the hooks about an outcome; a veto withholds it from the model. */
export async function askAfter(
  hooks: readonly ToolHook[],
  call: HookedCall,
  observation: ObservationObject,
): Promise<Veto | undefined> {
  for (const hook of hooks) {
    const veto = await vetoOf(() => hook.after?.(call, observation));
    if (veto) return veto;
  }
  return undefined;
}

async function vetoOf(ask: () => Promise<Veto | undefined> | undefined): Promise<Veto | undefined> {
  try {
    return await ask();
  } catch {
    return BROKEN;
  }
}

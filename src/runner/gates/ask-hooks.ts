import type { HookedCall, Veto } from "../../capabilities/tool.ts";
import type { ObservationObject, ToolFailure } from "../../protocol/outcome/observation.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import { answerWithin, type Patience } from "../answer-within.ts";
import type { ToolRunnerPorts } from "../active-call.ts";
import { CANCELLED, failCall } from "../tool-failure.ts";

/** How long a hook may think. */
const HOOK_TIMEOUT_MS = 5_000;

const BROKEN: Veto = { code: "hook_failed", message: "a check of this deployment failed" };

/**
 * Asks the deployment's hooks before a call; the first veto ends it.
 * Contract: never throws; a hook that throws or does not answer has vetoed.
 * Fails: POLICY_VIOLATION; UNKNOWN_ERROR when the run is cancelled meanwhile.
 */
export async function askBefore(
  { hooks, clock }: Pick<ToolRunnerPorts, "hooks" | "clock">,
  call: HookedCall,
  signal: AbortSignal,
): Promise<Result<null, ToolFailure>> {
  for (const hook of hooks) {
    const patience = { clock, timeoutMs: HOOK_TIMEOUT_MS, signal };
    const veto = await vetoOf(patience, async () => hook.before?.(call));
    if (signal.aborted) return CANCELLED;
    if (veto) return failCall("POLICY_VIOLATION", veto);
  }
  return ok(null);
}

/**
 * Asks the hooks about an outcome, also that of a run which is cancelled by now; a veto withholds it
 * from the model.
 * Contract: never throws; a hook that throws or does not answer has vetoed.
 */
export async function askAfter(
  { hooks, clock }: Pick<ToolRunnerPorts, "hooks" | "clock">,
  call: HookedCall,
  observation: ObservationObject,
): Promise<Veto | undefined> {
  for (const hook of hooks) {
    const patience = { clock, timeoutMs: HOOK_TIMEOUT_MS };
    const veto = await vetoOf(patience, async () => hook.after?.(call, observation));
    if (veto) return veto;
  }
  return undefined;
}

async function vetoOf(
  patience: Patience,
  ask: () => Promise<Veto | undefined>,
): Promise<Veto | undefined> {
  try {
    const waited = await answerWithin(patience, ask);
    return waited.kind === "answered" ? waited.value : BROKEN;
  } catch {
    return BROKEN;
  }
}

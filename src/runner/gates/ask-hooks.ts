import { errorOf } from "../../protocol/outcome/failures.ts";
import type { Log } from "../../capabilities/log.ts";
import type { Clock } from "../../capabilities/system.ts";
import type { EndedCall, HookedCall, ToolHook, Veto } from "../../capabilities/hook.ts";
import { frozenCopyOf } from "../../protocol/json/copy.ts";
import type { ObservationObject, ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail } from "../../protocol/outcome/result.ts";
import type { ShownContent } from "../../protocol/tool/content.ts";
import { answerWithin, type Patience } from "../../contracts/bind/answer-within.ts";
import { boundError, CANCELLED } from "../outcome/tool-failure.ts";
import { checkContextOf, type CheckContextPorts } from "./check-context.ts";
import type { ValiditySubject } from "./subjects.ts";
import { PASSED, type Gate } from "./gate.ts";

/** What asking the deployment's hooks takes. */
export interface HookPorts extends CheckContextPorts {
  readonly hooks: readonly ToolHook[];
  readonly clock: Clock;
  readonly log: Log;
}

/** How long a hook may take. */
const HOOK_TIMEOUT_MS = 5_000;

const BROKEN: Veto = errorOf("hook_failed");
const VETOED = { who: "hook", when: "before" } as const;

/**
 * Asks the deployment's hooks about a call; the first veto ends it. A hook that throws or does not
 * answer vetoes.
 * Threat: a hook changes what approvers see, or in whose name the tool runs; it gets frozen copies.
 * Fails: POLICY_VIOLATION; UNKNOWN_ERROR when the run is cancelled while a hook thinks.
 */
export const askHooks: Gate<ValiditySubject, HookPorts> = {
  name: "hooks",
  async check({ tool, accepted, authority, signal }, ports) {
    const { hooks, clock, log } = ports;
    if (hooks.length === 0) return PASSED;
    const context = checkContextOf(ports, authority.context, accepted.payloadHash);
    const call = frozenCopyOf(hookedCall(tool, context, accepted.shown));
    for (const hook of hooks) {
      const patience = { clock, log, timeoutMs: HOOK_TIMEOUT_MS, signal };
      const veto = await vetoOf(patience, async () => hook.before?.(call));
      if (signal.aborted) return CANCELLED;
      if (veto) return fail({ ...failureOf("POLICY_VIOLATION", veto), endedBy: VETOED });
    }
    return PASSED;
  },
};

/** Builds the failure of a call that a hook vetoes. */
export function failureOf(
  taxonomyClass: ToolFailure["taxonomyClass"],
  { code, message, endsRun }: Veto,
): ToolFailure {
  const errors = [{ field: null, code, message }];
  return { taxonomyClass, errors, ...(endsRun === true && { endsRun }) };
}

/** What hooks see of an outcome. */
interface Seen {
  readonly observation: ObservationObject;
  readonly content: readonly ShownContent[];
}

/**
 * Asks the hooks about an outcome, in a cancelled run too. A veto withholds the outcome from the
 * model.
 * Contract: never throws; a hook that throws or does not answer vetoes.
 */
export async function askHooksAfter(
  { hooks, clock, log }: HookPorts,
  call: EndedCall,
  seen: Seen,
): Promise<Veto | undefined> {
  if (hooks.length === 0) return undefined;
  const [asked, { observation, content }] = frozenCopyOf([call, seen] as const);
  for (const hook of hooks) {
    const patience = { clock, log, timeoutMs: HOOK_TIMEOUT_MS };
    const veto = await vetoOf(patience, async () => hook.after?.(asked, observation, content));
    if (veto) return veto;
  }
  return undefined;
}

/** Builds what a hook sees of a call. */
export function hookedCall(
  {
    id: toolId,
    version,
    sideEffectClass,
  }: Pick<ValiditySubject["tool"], "id" | "version" | "sideEffectClass">,
  context: HookedCall["context"],
  shownArgs: HookedCall["shownArgs"],
): HookedCall {
  return { toolId, version, sideEffectClass, shownArgs, context };
}

async function vetoOf(
  patience: Patience & { readonly log: Log },
  ask: () => Promise<Veto | undefined>,
): Promise<Veto | undefined> {
  try {
    const waited = await answerWithin(patience, ask);
    if (waited.kind !== "answered") return BROKEN;
    const veto = waited.value;
    if (!veto) return undefined;
    return { ...boundError({ field: null, ...veto }), endsRun: veto.endsRun === true };
  } catch (thrown) {
    patience.log.fault("hook_threw", thrown);
    return BROKEN;
  }
}

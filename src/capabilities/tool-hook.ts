import type { JsonObject } from "../protocol/json.ts";
import type { ObservationObject } from "../protocol/observation.ts";
import type { SideEffectClass } from "../protocol/side-effect-class.ts";
import type { ToolInvocationContext } from "../protocol/tool-invocation.ts";

/** What a hook sees of a call; arguments are redacted. */
export interface HookedCall {
  readonly toolId: string;
  readonly version: string;
  readonly sideEffectClass: SideEffectClass;
  readonly args: JsonObject;
  readonly context: ToolInvocationContext;
}

/** Words for the model and the log; never a secret. */
export interface Veto {
  readonly code: string;
  readonly message: string;
}

/**
 * A deployment's own say over every call.
 * Contract: `before` runs when every gate up to the budget has passed, and a veto ends the call;
 * `after` sees the outcome of every call that began, and a veto withholds it from the model; of a failure
 * only the words. A throw is a veto, and so is no answer within five seconds.
 */
export interface ToolHook {
  before?(call: HookedCall): Promise<Veto | undefined>;
  after?(call: HookedCall, observation: ObservationObject): Promise<Veto | undefined>;
}

import type { CheckContext } from "../protocol/invocation/record.ts";
import type { JsonObject } from "../protocol/json/value.ts";
import type { ObservationObject } from "../protocol/outcome/observation.ts";
import type { ShownContent } from "../protocol/tool/content.ts";
import type { ShownDetails } from "../protocol/tool/details.ts";
import type { SideEffectClass } from "../protocol/tool/effect.ts";

/** What a hook sees of a call; arguments are redacted. */
export interface HookedCall {
  readonly toolId: string;
  readonly version: string;
  readonly sideEffectClass: SideEffectClass;
  readonly shownArgs: JsonObject;
  readonly context: CheckContext;
}

/** What a hook sees of a call that ended, beside its outcome. */
export interface EndedCall extends HookedCall {
  /** What the tool tells people, and no model. Absent: nothing. */
  readonly details?: ShownDetails;
}

/** Why a hook refuses. The model and the log see it, so it holds no secret. */
export interface Veto {
  readonly code: string;
  readonly message: string;
  /** The run ends too: no other call begins, and no model is asked again. */
  readonly endsRun?: boolean;
}

/**
 * A deployment's own check of every call.
 * Contract: `before` runs in every attempt, after the gates of policy, arguments and state and
 * before anybody is asked for approval; a veto ends the call. `after` sees the outcome of every
 * call that began, with the content beside it and the details for people; a veto withholds all of
 * them from everybody, and of a failure only its texts. A throw is a veto, and so is no answer
 * within five seconds.
 */
export interface ToolHook {
  before?(call: HookedCall): Promise<Veto | undefined>;
  after?(
    call: EndedCall,
    observation: ObservationObject,
    content: readonly ShownContent[],
  ): Promise<Veto | undefined>;
}

import type { ConnectionId, RunId } from "../identity/ids.ts";
import type { Principal } from "../identity/principal.ts";
import type { RunLimits } from "../policy/limits.ts";
import type { TranscriptMessage } from "../conversation/message.ts";

/** What starts a run: checked and complete, so that the run needs nothing more of the request. */
export interface RunClaim {
  readonly runId: RunId;
  /** The first run of the conversation; absent when this is it. */
  readonly workflowId?: RunId;
  readonly principal: Principal;
  /** Of a request that came under a key: `sha256:…` over its body in canonical JSON. */
  readonly requestHash?: string;
  readonly model: string;
  /** The conversation so far; server-kept history first, when the run continues another. */
  readonly messages: readonly TranscriptMessage[];
  /** Narrows the catalog; absent means all that policy allows. */
  readonly toolIds?: readonly string[];
  /** Limits beside those of the policy; they lower them, never raise them. */
  readonly budgets?: RunLimits;
  /** Connections that tools of this run may use, as far as policy grants them; absent means none. */
  readonly connectionIds?: readonly ConnectionId[];
}

import type { WriteState } from "../capabilities/workspace.ts";
import type { ToolInvocationContext } from "../protocol/invocation/record.ts";
import type { JsonObject } from "../protocol/json/value.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import { fail, type Result } from "../protocol/outcome/result.ts";
import type { ActiveCall } from "./active-call.ts";
import { GateTrail, type GateResults } from "./gates/gate.ts";
import { digestText, type RefusedArguments } from "./gates/read-arguments.ts";
import type { AcceptedArguments } from "./gates/subjects.ts";
import type { Authority } from "./authority/open-authority.ts";
import type { NormalOutput } from "./output/normalise-output.ts";

/** How far an attempt came, and how it ended. */
export interface AttemptResult {
  /** Equal for equal arguments. */
  readonly argumentsDigest: string;
  /** Validated, not redacted; absent when they did not fit the contract. */
  readonly args?: JsonObject;
  /** Redacted; absent when the arguments did not fit the contract. */
  readonly shownArgs?: JsonObject;
  /** What the tool ran with, in this attempt or in an earlier one; undefined when it never ran. */
  readonly ranWith: ToolInvocationContext | undefined;
  /** The tool was asked to act in this attempt. */
  readonly dispatched: boolean;
  readonly outcome: Result<NormalOutput, ToolFailure>;
  /** What this attempt and all earlier ones have done, when the ledger of a workspace says it. */
  readonly write?: WriteState;
  /** The effect is that of an earlier attempt; it was found and not repeated. */
  readonly isReplay?: boolean;
  /** What the gates of this attempt answered; absent when no gate was asked. */
  readonly gates?: GateResults;
}

/** What one attempt knows so far. Ownership: one attempt; `prepare` and `execute` tell it. */
export class Attempt {
  readonly trail = new GateTrail();
  #accepted: AcceptedArguments | undefined;
  #refusedDigest: string | undefined;
  #authority: Authority | undefined;
  #isDispatched = false;

  accept(accepted: AcceptedArguments): AcceptedArguments {
    this.#accepted = accepted;
    return accepted;
  }

  refuseArguments({ failure, digest }: RefusedArguments): Result<never, ToolFailure> {
    this.#refusedDigest = digest;
    return fail(failure);
  }

  open(authority: Authority): Authority {
    this.#authority = authority;
    return authority;
  }

  markDispatched(): void {
    this.#isDispatched = true;
  }

  /** Revokes every capability of the attempt. */
  close(): void {
    this.#authority?.close();
  }

  async end(
    { toolCall, ranWith }: ActiveCall,
    outcome: AttemptResult["outcome"],
  ): Promise<AttemptResult> {
    const accepted = this.#accepted;
    const argumentsDigest =
      accepted?.payloadHash ?? this.#refusedDigest ?? (await digestText(toolCall));
    const write = this.#isDispatched ? this.#authority?.write() : undefined;
    return {
      argumentsDigest,
      ...(accepted && { args: accepted.args, shownArgs: accepted.shown }),
      ranWith: this.#isDispatched ? this.#authority?.context : ranWith,
      dispatched: this.#isDispatched,
      outcome: write === "unchanged" && !outcome.ok ? notCommitted(outcome.failure) : outcome,
      ...(write && { write }),
      gates: this.trail.results,
    };
  }
}

function notCommitted(failure: ToolFailure): Result<never, ToolFailure> {
  return fail({ ...failure, notCommitted: true });
}

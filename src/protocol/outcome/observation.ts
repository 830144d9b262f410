import type { ToolCallId } from "../identity/ids.ts";
import type { JsonObject, JsonValue } from "../json/value.ts";
import type { EndedBy } from "./ended-by.ts";
import { NOT_DISPATCHED, respond, type DispatchState } from "./response-vector.ts";
import {
  responseTo,
  type FailureClass,
  type TaxonomyClass,
  type ToolErrorCode,
} from "./taxonomy.ts";
import { toIso } from "../text/iso-time.ts";

/** One error of a call, for repair. The message says what is expected and what came. */
export type FieldError = {
  /** JSON pointer into the arguments, or null when the whole call is meant. */
  readonly field: string | null;
  /** Never holds the raw arguments, a stack, a secret or a provider's text. */
  readonly message: string;
  readonly code: string;
};

/** Version of the fields below. It grows with each change of their schema; a test holds it. */
export const OBSERVATION_SCHEMA = 1;

/**
 * The typed, redacted outcome of a tool call that the model and the UI see. Field names and the
 * closed shape are those of seeds/004, "Observation Object Schema".
 */
export type ObservationObject = {
  readonly tool_identity: {
    readonly name: string;
    readonly version: string;
    readonly call_id: ToolCallId;
  };
  readonly execution_metadata: {
    /** ISO 8601, UTC. */
    readonly timestamp: string;
    readonly latency_ms: number;
    readonly idempotency_hit: boolean;
    readonly trace_id: string;
    readonly attempt_number: number;
  };
  readonly status: {
    readonly code: number;
    readonly is_error: boolean;
    readonly taxonomy_class: TaxonomyClass;
    readonly retryable: boolean;
    readonly repairable: boolean;
    readonly requires_approval: boolean;
    readonly fail_closed: boolean;
  };
  readonly result_payload: {
    readonly data: JsonObject | null;
    readonly errors: readonly FieldError[];
    readonly warnings: readonly string[];
  };
  readonly verification: {
    readonly post_action_verification_required: boolean;
    readonly target_state_reference: string | null;
    readonly expected_state: JsonObject | null;
    readonly delay_seconds: number;
  };
};

/** Why a call failed: its class, and what the model needs for a repair. */
export interface ToolFailure {
  readonly taxonomyClass: FailureClass;
  /** Set only where it differs from the class's own code (`unavailable`). */
  readonly errorCode?: ToolErrorCode;
  readonly errors: readonly FieldError[];
  /** The state of the target by now, redacted, for a model that plans again. */
  readonly currentState?: JsonObject;
  /** When the same payload may be retried, if an outside service said so. */
  readonly retryAfterMs?: number;
  /**
   * The tool says that it changed nothing. Without this mark a failed mutation may have happened.
   */
  readonly notCommitted?: true;
  /** Something happened and stays. Only the runner says so, of a saga. */
  readonly committed?: true;
  /** A hook ends the run with this call. Only the runner says so. */
  readonly endsRun?: true;
  /** Who refused, where the codes of the errors do not tell. Only the runner says so. */
  readonly endedBy?: EndedBy;
  /** Of an error that nobody expected: names its line in the deployment's log. */
  readonly errorId?: string;
  /** For operators alone: which fields of the tool's output do not fit, without their values. */
  readonly detail?: string;
  /** The output that does not fit, not redacted. Only the sealed results of the run take it. */
  readonly rawOutput?: JsonValue;
}

/**
 * Facts of which an observation is built. Units: startedAtMs and endedAtMs in Unix milliseconds.
 */
export interface ObservationFacts {
  readonly name: string;
  readonly version: string;
  readonly toolCallId: ToolCallId;
  readonly traceId: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** The outcome is the stored one of an earlier attempt. The tool did not run again. */
  readonly isReplay?: boolean;
  /** From 1. */
  readonly attempt?: number;
  readonly isVerificationRequired?: boolean;
  readonly verificationDelaySeconds?: number;
  /** Redacted; absent when it is not known. */
  readonly expected?: Expected | null | undefined;
  readonly state?: DispatchState;
  /** Warnings for the model about an incomplete or changed result. */
  readonly warnings?: readonly string[];
}

interface Expected {
  readonly reference: string;
  readonly state: JsonObject | null;
}

/** Builds the observation of a successful call. `data` is already redacted; null when not known. */
export function observeSuccess(
  facts: ObservationFacts,
  data: JsonObject | null,
): ObservationObject {
  return observe(facts, "SUCCESS", { data, errors: [] });
}

/** Builds the observation of a call of which a part has happened: `data` says which. */
export function observePartial(
  facts: ObservationFacts,
  data: JsonObject | null,
): ObservationObject {
  return observe(facts, "PARTIAL_SUCCESS", { data, errors: [] });
}

/** Builds the observation of a call that a gate or the tool itself ended with a failure. */
export function observeFailure(facts: ObservationFacts, failure: ToolFailure): ObservationObject {
  const { taxonomyClass, errors, currentState } = failure;
  const data = currentState ? { current_state: currentState } : null;
  return observe(facts, taxonomyClass, { data, errors });
}

function observe(
  facts: ObservationFacts,
  taxonomyClass: TaxonomyClass,
  payload: Omit<ObservationObject["result_payload"], "warnings">,
): ObservationObject {
  const { warnings = [], state = NOT_DISPATCHED } = facts;
  const vector = respond(taxonomyClass, state);
  const isVerified = state.dispatched && (facts.isVerificationRequired ?? false);
  return {
    tool_identity: { name: facts.name, version: facts.version, call_id: facts.toolCallId },
    execution_metadata: {
      timestamp: toIso(facts.endedAtMs),
      latency_ms: Math.max(0, Math.round(facts.endedAtMs - facts.startedAtMs)),
      idempotency_hit: facts.isReplay ?? false,
      trace_id: facts.traceId,
      attempt_number: facts.attempt ?? 1,
    },
    status: {
      code: responseTo(taxonomyClass).status,
      is_error: taxonomyClass !== "SUCCESS" && taxonomyClass !== "PARTIAL_SUCCESS",
      taxonomy_class: taxonomyClass,
      retryable: vector.retryable,
      repairable: vector.repairable,
      requires_approval: vector.requires_approval,
      fail_closed: vector.fail_closed,
    },
    result_payload: { ...payload, warnings },
    verification: {
      post_action_verification_required: isVerified,
      target_state_reference: facts.expected?.reference ?? null,
      expected_state: facts.expected?.state ?? null,
      delay_seconds: isVerified ? (facts.verificationDelaySeconds ?? 0) : 0,
    },
  };
}

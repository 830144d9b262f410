import type { RunId, TenantId } from "../protocol/identity/ids.ts";
import type { MaskValues } from "../protocol/secrets/mask-values.ts";

/** What happened, as a stable word. */
export type LogCode =
  /** A request ended with 500. */
  | "request_failed"
  /** A request got 401 for its token. */
  | "token_refused"
  /** Roles or groups of an accepted token give their person nothing. */
  | "groups_unknown"
  /** A run ended with `internal_error`. */
  | "run_failed"
  /** A tool's `execute`, `checkState`, `reconcile`, `verify` or `expect` threw. */
  | "tool_threw"
  /** A gate or a function of the contract threw before or after the tool acted. */
  | "call_failed"
  /** What a tool answered does not fit its contract: `mismatch` names the field. */
  | "output_refused"
  | "details_refused"
  /** A contract's `describe` or `preview` threw; approvers see default texts. */
  | "packet_incomplete"
  /** What people see of a call changed each time before it could begin; the call ended. */
  | "keeps_changing"
  /** A completed call cannot be undone: the arguments that undo it cannot be made. */
  | "compensation_lost"
  /** A saga failed, and undoing one of its steps failed too: an operator has to look. */
  | "compensation_failed"
  /** A hook of the deployment threw; the call was refused. */
  | "hook_threw"
  /** The deployment's context hook threw; the run ended. */
  | "context_threw"
  /** The source of the tools failed or gave no answer; nothing was executed. */
  | "tools_unavailable"
  /** A model call failed. */
  | "model_failed"
  /** The conversation did not answer while its earlier turns were summarised; the run goes on. */
  | "summary_failed"
  /** An operation of a workspace threw; nothing was changed. */
  | "operation_threw"
  /** The result of an operation does not fit its schema; nothing was changed. */
  | "result_refused"
  /** A workspace cannot be opened: a migration failed, or newer code wrote its tables. */
  | "workspace_refused"
  /** Reading the state after a write failed; it is read again, or recorded as unknown. */
  | "verification_failed"
  /** The spans of a run were given up: `reason` says why. */
  | "traces_dropped"
  /** The alarm of a run's object failed, and rings again later. */
  | "alarm_failed"
  /** A run's object ended its own incarnation; the next one recovers the run. */
  | "incarnation_abandoned";

/** What a line is about. */
export interface LogSubject {
  readonly tenantId?: TenantId;
  readonly runId?: RunId;
  readonly toolId?: string;
  readonly toolVersion?: string;
  readonly model?: string;
}

/** One line for operators. It holds no arguments, no text of a conversation and no secret. */
export interface LogLine extends LogSubject {
  readonly level: "info" | "warn" | "error";
  readonly code: LogCode;
  /** HTTP status of another service. */
  readonly status?: number;
  /** The code of a failure, such as `upstream_stalled`. */
  readonly reason?: string;
  /** Words of another service. The log masks what looks like a secret. */
  readonly detail?: string;
  /** Fields that do not fit a schema, and what was expected there; no value. */
  readonly mismatch?: string;
  readonly durationMs?: number;
}

/** Takes lines for operators. Contract: its methods never throw. */
export interface Log {
  write(line: LogLine): void;
  /**
   * Logs an error that nobody expected, with its stack, and returns a new error id, `err_…`. The
   * client, the event and the audit record show the same id. `mask` masks values that only the
   * caller knows to be secret.
   */
  fault(
    code: LogCode,
    thrown: unknown,
    about?: LogSubject & { readonly mask?: MaskValues },
  ): string;
  /** The same log for one run or one tool: each line names it. */
  about(subject: LogSubject): Log;
}

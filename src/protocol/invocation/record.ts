import type { BudgetAmounts } from "../budget/amounts.ts";
import type { ActorId, ConnectionId, RunId, TenantId, ToolCallId } from "../identity/ids.ts";
import type { InvocationState } from "./state.ts";
import type { UndoAttempt } from "./undo.ts";
import type { MadeAfter, Sources } from "../label/source.ts";
import type { JsonObject } from "../json/value.ts";
import type { EndedBy } from "../outcome/ended-by.ts";
import type { ObservationObject } from "../outcome/observation.ts";
import type { DataClassification } from "../tool/data-class.ts";
import type { CallOrigin, SagaLink } from "../tool/call.ts";
import type { KeptContent } from "../tool/content.ts";
import type { ShownDetails } from "../tool/details.ts";
import type { ResponseVector } from "../outcome/response-vector.ts";
import type { FailureClass, ToolErrorCode } from "../outcome/taxonomy.ts";
import type { PlannedVerification, VerificationRecord } from "../outcome/verification.ts";

/** Context of one invocation: references only, never a secret (seeds/000 #28, F2). */
export interface ToolInvocationContext {
  readonly runId: RunId;
  readonly tenantId: TenantId;
  readonly actorId: ActorId;
  /** On whose behalf; bound by the server alone. */
  readonly subjectId?: ActorId;
  /** The one connection this invocation may use, when its tool requires one (seeds/000 #26a). */
  readonly connectionId?: ConnectionId;
  /** The workspace of the run, when its tool uses one. */
  readonly workspaceId?: string;
  readonly toolCallId: ToolCallId;
  readonly step: number;
  /** The event part that shows this call; see AiEvent. */
  readonly part: number;
}

/** Names a logical operation within its run. */
export type Operation = Pick<ToolInvocationContext, "step" | "toolCallId">;

/** Context of a check of one call: of a hook, and of the contract's `checkState`. */
export interface CheckContext extends ToolInvocationContext {
  /** Roles of the token with which the run began. */
  readonly callerRoles: readonly string[];
  /** Who approved the call with these arguments; empty before somebody has. */
  readonly approvers: readonly Approver[];
}

/** A person who approved a call, and the person's roles at that time. */
export interface Approver {
  readonly actorId: ActorId;
  readonly roles: readonly string[];
}

/** What `toolRunner.exec` returns (seeds/000, "Tool Policy Architecture"). */
export interface ToolExecResult {
  readonly toolCallId: ToolCallId;
  readonly ok: boolean;
  /** Redacted output, when ok and known. */
  readonly value?: JsonObject;
  /** Present when not ok. */
  readonly errorCode?: ToolErrorCode;
  readonly observation: ObservationObject;
  /** Text and images beside the observation. */
  readonly content?: readonly KeptContent[];
  readonly response: ResponseVector;
  /** Where its invocation ended. */
  readonly state: InvocationState;
}

/** What the model had been shown, in this conversation, when it proposed a call. */
export interface ShownBefore extends MadeAfter {
  /** Classes of the data. Absent: none. */
  readonly shownData?: readonly DataClassification[];
}

/**
 * One logical operation of a run, as recorded (seeds/000 #10; seeds/004, "Idempotency State
 * Model"). Of what the run keeps, only this and the transcript hold raw arguments.
 */
export interface ToolInvocationRecord extends ShownBefore {
  /** From 1, in the order asked. */
  readonly number: number;
  readonly toolCallId: ToolCallId;
  readonly step: number;
  /** The event part that shows this call. */
  readonly part: number;
  readonly name: string;
  /**
   * As the model wrote them, with the answer of the person, or as an approver edited them. They
   * never leave the run's storage.
   */
  readonly argumentsText: string;
  readonly truncated: boolean;
  /** As they were before; absent unless an approver edited them since. */
  readonly proposedText?: string;
  /** What the person answered before the call; its fields stand in the arguments. */
  readonly answer?: JsonObject;
  /** Absent: a model asked. */
  readonly origin?: CallOrigin;
  /** Present when a saga asked. */
  readonly saga?: SagaLink;
  readonly state: InvocationState;
  /** How often the tool was asked to act. Above 0 and PENDING means an unknown outcome. */
  readonly dispatches: number;
  /** When the tool was first asked to act. Unit: Unix milliseconds. */
  readonly dispatchedAtMs?: number;
  /** The next attempt, planned after so many dispatches. Unit: Unix milliseconds. */
  readonly retry?: { readonly atMs: number; readonly after: number };
  /** Sources of what its workspace gave it to read. Absent: none. */
  readonly rowSources?: Sources;
  /** What the operation is bound to, once its arguments are known to be valid. */
  readonly binding?: InvocationBinding;
  /** What it reserved of the run's budgets. */
  readonly amounts?: BudgetAmounts;
  /** The attempts of a tool with a price per second that answered, and how long they took. */
  readonly measured?: { readonly attempts: number; readonly totalMs: number };
  /**
   * Until when an operator may resolve the outcome; present once one is asked. Unit: Unix
   * milliseconds.
   */
  readonly awaitedUntilMs?: number;
  /** How the operator resolved the outcome, or that no operator did in time. */
  readonly resolution?: Resolution;
  /** Present once somebody asked to undo it. */
  readonly undo?: UndoAttempt;
  /** How far the verification has come that `end` plans. The run's object alone writes it. */
  readonly verification?: VerificationRecord;
  /** Unit: Unix milliseconds. */
  readonly askedAtMs: number;
  /** Present once it ended. */
  readonly end?: InvocationEnd;
}

/** What an operation is bound to. Other arguments make another operation. */
export interface InvocationBinding {
  readonly version: string;
  /** `sha256:…` over the validated arguments in canonical JSON. */
  readonly payloadHash: string;
  readonly idempotencyKey: string;
  /**
   * Fingerprint of the account and the addresses that the call reaches; absent when it reaches
   * none, and in runs of an earlier release.
   */
  readonly target?: string;
  readonly mutates: boolean;
  readonly dataClass: DataClassification;
  /** Who is responsible for the tool. */
  readonly owner: string;
  /** The tool's name for people; absent: its contract has none. */
  readonly title?: string;
  /** The workspace that the tool used. */
  readonly workspaceId?: string;
  /** Redacted arguments. */
  readonly shownArgs: JsonObject;
}

/** How an unknown outcome was resolved. */
export interface Resolution {
  readonly outcome: "committed" | "not_committed" | "expired";
  /** Who answered; absent when nobody did. */
  readonly by?: ActorId;
  readonly atMs: number;
}

/** How an invocation ended. */
export interface InvocationEnd {
  readonly observation: ObservationObject;
  /** Text and images beside the observation. Present exactly when there are some. */
  readonly content?: readonly KeptContent[];
  /** What the tool told people; no model sees it. Absent: nothing. */
  readonly details?: ShownDetails;
  /** Observation and content may hold text that others wrote. */
  readonly isUntrusted?: true;
  /** Present exactly when the state after the call is to be verified. */
  readonly verification?: PlannedVerification;
  /** Of what a refused call shows of its target's state; absent when it shows nothing. */
  readonly dataClass?: DataClassification;
  /** What may follow (seeds/004, "Response Vector Model"). */
  readonly response: ResponseVector;
  readonly errorCode?: ToolErrorCode;
  /** Who ended it, where the observation does not tell. */
  readonly endedBy?: EndedBy;
  /**
   * Validated output of a saga's step, before redaction: later steps take their arguments from it.
   * It stays in the run's object. Absent for every other call, and when nobody knows it.
   */
  readonly output?: JsonObject;
  /** How to undo the call; absent when it cannot be undone. */
  readonly compensation?: PlannedCompensation;
  /** Of an error that nobody expected: names its line in the deployment's log. */
  readonly errorId?: string;
  /** For operators alone: which fields of the tool's output do not fit, without their values. */
  readonly detail?: string;
  /** What it used, when that is not what it reserved. */
  readonly used?: BudgetAmounts;
  /** A hook ended the run with this call. */
  readonly endsRun?: true;
  /** How far the arguments of a failed call fit the contract. Absent: nobody looked, or nothing. */
  readonly fits?: ArgumentsFit;
  /** What the run learned from it; absent when there was no tool to call. */
  readonly lesson?: CallLesson;
  /** When it got the run's lock. Unit: Unix milliseconds. */
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

/** The arguments fit the schema of the contract, or its rules too. */
export type ArgumentsFit = "schema" | "rules";

/**
 * The call that undoes a completed call. Its arguments are raw: they leave the run's object only
 * for the tool that they are for.
 */
export interface PlannedCompensation {
  readonly toolId: string;
  readonly version: string;
  readonly args: JsonObject;
}

/**
 * What later calls learn from one call. The stored names say fingerprint: both values are digests
 * of the runner, equal for equal values, and never leave the run's object. A short one is plain
 * text.
 */
export interface CallLesson {
  readonly argumentsFingerprint: string;
  /** The tool was asked to act. */
  readonly begun: boolean;
  /** Something was changed. */
  readonly changed: boolean;
  readonly resultFingerprint: string;
  /** Present when the call failed. */
  readonly failureClass?: FailureClass;
  /** The approval gate refused the call: people, or a limit of what people are asked. */
  readonly refusedByPeople?: true;
  /** Rights or policy refused the tool itself, so no arguments would pass. */
  readonly refusedAsSuch?: true;
}

/** Tells whether the tool was asked to act and its outcome is not recorded. */
export function hasUnknownOutcome({ state, dispatches }: ToolInvocationRecord): boolean {
  return state === "PENDING" && dispatches > 0;
}

/** Tells whether a call waits for its next attempt, or may begin it. */
export function awaitsRetry({
  retry,
  dispatches,
  awaitedUntilMs,
  end,
}: ToolInvocationRecord): boolean {
  return retry?.after === dispatches && awaitedUntilMs === undefined && !end;
}

/**
 * Tells whether a write may have happened and its outcome is not recorded. The record says what is
 * a write: a newer contract may say something else.
 */
export function isUnknownWrite(record: ToolInvocationRecord): boolean {
  return hasUnknownOutcome(record) && record.binding?.mutates === true;
}

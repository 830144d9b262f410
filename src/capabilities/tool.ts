import type { DriftingField } from "../protocol/approval/packet.ts";
import type { ToolCost } from "../protocol/budget/cost-of-call.ts";
import type { JsonObject } from "../protocol/json/value.ts";
import type { RunId, TenantId, ToolId } from "../protocol/identity/ids.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import type { Reconciliation } from "../protocol/outcome/reconciliation.ts";
import type { ExpectedState } from "../protocol/outcome/verification.ts";
import type { Result } from "../protocol/outcome/result.ts";
import type { SideEffectClass, ToolEffect } from "../protocol/tool/effect.ts";
import type { FailureClass } from "../protocol/outcome/taxonomy.ts";
import type { Semantics } from "../protocol/tool/contract-document.ts";
import type { CheckContext, ToolInvocationContext } from "../protocol/invocation/record.ts";
import type { ContentPart } from "../protocol/tool/content.ts";
import type { AmountField } from "../protocol/tool/amount-field.ts";
import type { ToolLifecycle } from "../protocol/tool/lifecycle.ts";
import type { JsonSchema7, ToolSpec } from "../protocol/tool/spec.ts";
import type { MaskValues } from "../protocol/secrets/mask-values.ts";
import type { RateLimit } from "./budget.ts";
import type { Clock } from "./system.ts";
import type { AuthCapability } from "./connection.ts";
import type { ResultReader } from "./results.ts";
import type { Egress, HttpClient } from "./http.ts";
import type { RowSources, Workspace, WorkspaceBinder, WriteState } from "./workspace.ts";

/** Capabilities that serve a whole run. */
export interface RunCapabilities {
  readonly clock: Clock;
  readonly runTitle: RunTitle;
  /** Not given to tools: each attempt gets `http`, bound to the hosts of its contract. */
  readonly egress: Egress;
  /** Not given to tools: each attempt gets `workspace`. Absent without workspaces. */
  readonly workspaces?: WorkspaceBinder | undefined;
  /** Absent where nothing keeps results. */
  readonly results?: ResultReader | undefined;
}

/** The authority of one attempt; it ends with the attempt. */
export interface AttemptScope {
  /** Aborts when the time is up, the run is cancelled, or the attempt is abandoned. */
  readonly signal: AbortSignal;
  /**
   * Stays the same over every attempt at one logical operation (seeds/004, "Idempotency Key
   * Architecture").
   */
  readonly idempotencyKey: string;
  /** The first run of the conversation. */
  readonly conversationId: RunId;
  /** How long one function of the contract may take. Unit: milliseconds. */
  readonly timeoutMs: number;
  /** Takes what the ledger of the workspace says about the write of this attempt. */
  readonly noteWrite: (write: WriteState) => void;
  readonly rowSources: RowSources;
  readonly progress: Progress;
  /** Present exactly when the tool requires a connection. */
  readonly auth?: AuthCapability;
  /** Hides the secrets of the connection. */
  readonly mask: MaskValues;
}

/** What a tool may be given; a tool names the ones it needs (seeds/000 #3, #29). */
export interface ToolCapabilities extends Omit<
  RunCapabilities,
  "egress" | "workspaces" | "results"
> {
  /** Only `core__read_result` may have it. */
  readonly results: ResultReader;
  readonly auth: AuthCapability;
  readonly progress: Progress;
  readonly http: HttpClient;
  readonly workspace: Workspace;
}

declare const ticket: unique symbol;

/**
 * Proves that a call passed every gate and is recorded as dispatched.
 * Contract: src/contracts/bind/dispatch-ticket.ts issues and redeems tickets, and refuses a forged
 * one.
 */
export interface DispatchTicket {
  readonly [ticket]: true;
}

/**
 * One tool, bound and ready for the runner (seeds/000 #27). It owns its schemas, its rules and its
 * redaction; the runner never touches a schema.
 */
export interface BoundToolRuntime {
  readonly id: ToolId;
  readonly version: string;
  readonly spec: ToolSpec;
  readonly effect: ToolEffect;
  readonly sideEffectClass: SideEffectClass;
  /** The contract itself asks for a person before each call. */
  readonly confirmationRequired: boolean;
  /** False: only a call with an origin finds the tool; see ToolCall. */
  readonly shownToModel: boolean;
  /** What it takes to undo a call, and the tool that does. */
  readonly compensation: { readonly semantics: Semantics; readonly tool: string | null };
  readonly lifecycle: ToolLifecycle;
  /** Unit: milliseconds. */
  readonly timeoutMs: number;
  readonly maxArgumentsBytes: number;
  readonly maxResultBytes: number;
  /** Texts beside the data of one answer; 0: none. */
  readonly maxTextBytes: number;
  readonly maxRetries: number;
  /** How long a write is repeated under its key, from its first dispatch. Unit: milliseconds. */
  readonly retryForMs: number;
  /** How long the service remembers a key. Unit: milliseconds; infinity when nobody said. */
  readonly keyTtlMs: number;
  /** Calls of one run. */
  readonly rateLimit: RateLimit;
  readonly cost: ToolCost;
  /** Where the money stands that a call moves, in units of the currency. */
  readonly amountField?: AmountField;
  readonly requiredScopes: readonly string[];
  readonly requiresConnection: boolean;
  /** Addresses of its upstreams. */
  readonly addresses: readonly string[];
  /** Who is responsible for the tool. */
  readonly owner: string;
  /** It uses the workspace of the run. */
  readonly usesWorkspace: boolean;
  /** Running it again under the same key changes nothing more. */
  readonly isIdempotent: boolean;
  /** May run beside other tools that say so. */
  readonly isParallel: boolean;
  /** It only reads, and sends text of its arguments to a service. */
  readonly discloses: boolean;
  /** Its output holds text that others wrote. */
  readonly isOutputUntrusted: boolean;
  /** Its output holds numbers, booleans and listed values only. Failures may still hold text. */
  readonly isOutputTextFree: boolean;
  readonly isVerificationRequired: boolean;
  /** From the end of a call to the read of its state. */
  readonly verificationDelaySeconds: number;
  /** Stages that its progress may name. */
  readonly progressStages: readonly string[];
  /** The class of each failure code that the contract declares. */
  readonly errorClasses: ReadonlyMap<string, FailureClass>;
  /** Validates shape, types and bounds in one pass. Contract: pure; never throws. */
  validateInput(args: JsonObject): Result<JsonObject, ToolFailure>;
  /** Checks the contract's semantic rules. Contract: pure. Fails: SEMANTIC_INVALIDITY. */
  checkRules(args: JsonObject): Result<null, ToolFailure>;
  /**
   * Asks whether the target is still as the call assumes. Fails: STALE_STATE, or what the check
   * returns.
   */
  checkState(
    args: JsonObject,
    context: CheckContext,
    scope: AttemptScope,
  ): Promise<Result<null, ToolFailure>>;
  /**
   * Describes a call for approvers; absent where the contract cannot. `before` is the state of the
   * target as approvers see it. Contract: author code; it may throw.
   */
  readonly describe?: (args: JsonObject, before: JsonObject | null) => unknown;
  /** What the person is asked before each call; absent: nothing. */
  readonly ask?: BoundAsk;
  /** Shown fields of the state whose change asks nobody again. */
  readonly drifting: readonly DriftingField[];
  /**
   * Tells the target's state before and after a call; absent where the contract cannot.
   * Contract: author code; it may throw, answer anything, or never answer.
   */
  readonly preview?: (
    args: JsonObject,
    context: ToolInvocationContext,
    scope: AttemptScope,
  ) => Promise<unknown>;
  /**
   * Runs the tool for the call that the ticket stands for. Only the runner's dispatcher has
   * tickets.
   * Contract: rejects without a valid ticket; a ticket is good for one run. The tool returns
   * expected failures; a throw is a bug of the tool and becomes UNKNOWN_ERROR.
   */
  performDispatched(ticket: DispatchTicket): Promise<ToolAnswer>;
  /**
   * Makes the arguments of the tool that undoes a call; absent where nothing undoes it.
   * Contract: author code; it may throw or answer anything.
   */
  readonly compensate?: (args: JsonObject, output: JsonObject) => unknown;
  /** Present in a saga: its steps, in place of `performDispatched`. */
  readonly saga?: BoundSaga;
  /** Finds the outcome of a dispatched call; absent where the contract cannot. */
  readonly reconcile?: (
    args: JsonObject,
    context: ToolInvocationContext,
    scope: AttemptScope,
  ) => Promise<Reconciliation<unknown>>;
  /**
   * Tells the state that a call leads to; absent where the contract cannot.
   * Contract: author code; it may throw, or answer anything.
   */
  readonly expectState?: (args: JsonObject, output: JsonObject) => unknown;
  /**
   * Reads the state after a call; absent where the contract cannot.
   * Contract: author code; it may throw, answer anything, or never answer.
   */
  // oxlint-disable-next-line max-params -- authors get what they get elsewhere, and the state
  readonly verify?: (
    args: JsonObject,
    expected: ExpectedState,
    context: ToolInvocationContext,
    scope: AttemptScope,
  ) => Promise<unknown>;
  /** Validates what the tool returned. Contract: pure; never throws. */
  validateOutput(output: unknown): Result<JsonObject, ToolFailure>;
  /** Checks what the tool returned beside its data. Contract: pure; never throws. */
  readContent(content: unknown): Result<readonly ContentPart[], ToolFailure>;
  /**
   * Checks what the tool tells people, and keeps the allowlisted fields; undefined where it does
   * not fit the contract. Contract: pure; never throws.
   */
  readDetails(details: unknown): JsonObject | undefined;
  /** Keeps the allowlisted fields of validated arguments. */
  redactArgs(args: JsonObject): JsonObject;
  /** Keeps the allowlisted fields of validated output. */
  redactOutput(output: JsonObject): JsonObject;
  /** Keeps the allowlisted fields of a state from `preview`, `expectState` or `verify`. */
  redactState(state: JsonObject): JsonObject;
}

/** The question of a contract, ready for the runner. */
export interface BoundAsk {
  readonly ttlSeconds: number;
  /** Schema of the answer: a closed object of texts, numbers, booleans and listed values. */
  readonly formSchema: JsonSchema7;
  /** Contract: author code; it may throw or answer anything. */
  question(args: JsonObject, before: JsonObject | null): unknown;
  /** Validates an answer. Contract: pure; never throws. */
  readAnswer(answer: JsonObject): Result<JsonObject, ToolFailure>;
}

/**
 * The steps of a saga, ready for the runner.
 * Contract: `arguments` and `result` are author code; they may throw or answer anything.
 */
export interface BoundSaga {
  readonly steps: readonly {
    readonly toolId: string;
    readonly arguments: (args: JsonObject, done: readonly StepOutput[]) => unknown;
  }[];
  readonly result: (args: JsonObject, done: readonly StepOutput[]) => unknown;
}

/** What a step returned: validated, not redacted. */
export interface StepOutput {
  readonly toolId: string;
  readonly output: JsonObject;
}

/** What a tool returned, before any check: its output, and what stands beside it. */
export type ToolAnswer = Result<unknown, ToolFailure> & {
  readonly content?: unknown;
  readonly details?: unknown;
};

/**
 * Where the tools of a deployment come from. A run asks each time its loop starts, and a request
 * once; both go on with the tools that they got. Ask through `loadTools`, which bounds the time.
 * Contract: `load` may reject, may never answer, and may answer otherwise the next time.
 */
export interface ToolSourcePort<Tools = BoundTools> {
  load(tenantId: TenantId): Promise<Tools>;
}

/**
 * The tools that a source gave, bound to the capabilities of one run.
 * Contract: never changes; looks up by own property; an unknown id or version yields undefined.
 */
export interface BoundTools {
  getBoundTool(toolId: string, version: string): BoundToolRuntime | undefined;
  /** Every version of every tool, in order of registration. */
  listToolSpecs(): readonly ToolSpec[];
}

/** Progress of a running tool, for people: the model never sees it. */
export interface ProgressReport {
  /** One of the contract's `progressStages`. */
  readonly stage?: string;
  readonly done?: number;
  readonly total?: number;
  /** A short text. Secrets and withheld arguments are masked in it; it is cut at 200 characters. */
  readonly text?: string;
  /** What the tool has found so far: a part of what `details` of the contract describes. */
  readonly details?: object;
}

/** Shows progress to readers. Contract: never throws; too frequent reports are dropped. */
export interface Progress {
  report(progress: ProgressReport): void;
}

/** Sets the title of the run that the tool runs in. Contract: the last call wins. */
export interface RunTitle {
  set(title: string): void;
}

import type * as v from "valibot";
import type { ToolCapabilities } from "../../capabilities/tool.ts";
import type { Given, GivenObject } from "../../protocol/json/author-data.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import type { Result } from "../../protocol/outcome/result.ts";
import type { Reconciliation } from "../../protocol/outcome/reconciliation.ts";
import type { ExpectedState, Verification } from "../../protocol/outcome/verification.ts";
import type { SideEffectClass, ToolEffect } from "../../protocol/tool/effect.ts";
import type { FailureClass } from "../../protocol/outcome/taxonomy.ts";
import type { CheckContext, ToolInvocationContext } from "../../protocol/invocation/record.ts";
import type { AmountField } from "../../protocol/tool/amount-field.ts";
import type { ContentLimits, ToolContent } from "../../protocol/tool/content.ts";
import type { ToolLifecycle } from "../../protocol/tool/lifecycle.ts";
import type { Redaction } from "../../protocol/tool/spec.ts";
import type { AskSection } from "./ask-section.ts";
import type { AuthorCode, SealedCode } from "./author-code.ts";
import type {
  IdempotencySection,
  ObservabilitySection,
  RuntimeSection,
  Sections,
  SecuritySection,
  TransactionalSection,
  VerificationSection,
} from "./sections.ts";

/**
 * A closed object schema: it refuses a call with an unknown field. `v.strictObject` makes one. Code
 * that builds tools for any arguments names the types of the data here: `Taken` is what the schema
 * accepts, `Args` what it answers, with defaults filled in.
 */
export interface ClosedObjectSchema<
  Taken extends object = object,
  Args extends object = Taken,
> extends v.GenericSchema<Taken, Args> {
  readonly type: "strict_object";
  readonly entries: v.ObjectEntries;
}

/**
 * What an author writes: the whole boundary between a proposal and an effect. The sections are
 * those of seeds/004. The side-effect class decides what the author leaves out (see defineTool).
 * `execute` receives validated arguments and only the capabilities that the contract names. It
 * returns expected failures; a throw is a bug.
 */
export interface ToolDefinition<
  In extends ClosedObjectSchema = ClosedObjectSchema,
  Out extends ClosedObjectSchema = ClosedObjectSchema,
  Needs extends keyof ToolCapabilities = keyof ToolCapabilities,
> {
  /** `<namespace>__<tool>`, of `[a-zA-Z0-9_-]`, at most 64 characters. */
  readonly name: string;
  /** Three numbers, `1.0.0`. A contract with another meaning needs another version. */
  readonly version: string;
  /** Short name for people. Approvers see the name of the tool beside it. Default: none. */
  readonly title?: string;
  /** Word under which a catalog lists the tool. Default: none. */
  readonly category?: string;
  /** Text for the model: when to use the tool, what its arguments mean, what it does not do. */
  readonly description: string;
  readonly input: In;
  readonly output: Out;
  readonly sideEffectClass: SideEffectClass;
  readonly effect: ToolEffect;
  /** Fields that may leave the runner. A contract without this list cannot be registered. */
  readonly redaction: Redaction;
  readonly capabilities: readonly Needs[];
  /** Who is responsible for the tool. Default: the namespace. */
  readonly owner?: string;
  readonly lifecycle?: ToolLifecycle;
  /** When to use the tool, for the model. */
  readonly allowedUseCases?: readonly string[];
  /** When not to use the tool, for the model. */
  readonly forbiddenUseCases?: readonly string[];
  /** Arguments of sensible calls, for the model. Registration checks them. */
  readonly examples?: readonly ToolExample<Given<v.InferInput<In>>>[];
  readonly runtime?: Partial<RuntimeSection>;
  readonly security?: Partial<SecuritySection>;
  readonly transactional?: Partial<TransactionalSection>;
  readonly idempotency?: Partial<IdempotencySection>;
  readonly observability?: Partial<ObservabilitySection>;
  /** What `execute` may answer beside its data, for the model. Default: nothing. */
  readonly content?: Partial<ContentLimits>;
  /** What `execute` may tell people beside its data; the model never sees it. Default: nothing. */
  readonly details?: ClosedObjectSchema;
  /** The class of every failure code that `execute` and `checkState` return. */
  readonly errors?: Readonly<Record<string, FailureClass>>;
  /** The tool may run at the same time as other parallel tools. Default: true for READ_ONLY. */
  readonly parallel?: boolean;
  /**
   * False: models never see the tool and cannot call it. People may call it, and it may undo calls
   * or be a step of a saga. Policy has to allow it as any tool. Default: true.
   */
  readonly shownToModel?: boolean;
  /** The tool needs stored credentials. Then it must name the capability `auth`. Default: false. */
  readonly requiresConnection?: boolean;
  /** The name of the workspace that the capability `workspace` reaches. Needs that capability. */
  readonly workspace?: string;
  /**
   * JSON pointer to the amount of money that a call moves, in units of the cost's currency: to a
   * field of the arguments, or as `{ preview: pointer }` to one of `preview` that people see.
   */
  readonly amountField?: AmountField;
  /** Stages that the tool's progress may name. */
  readonly progressStages?: readonly string[];
  /** Conditions over several fields. The runner checks them after the arguments fit the schema. */
  readonly rules?: readonly SemanticRule<v.InferOutput<In>>[];
  /** What the person is asked before each call. Default: nothing. */
  readonly ask?: AskSection<v.InferOutput<In>>;
  /** Checks that the target is still as the call assumes. Runs before every dispatch. */
  checkState?(
    args: v.InferOutput<In>,
    context: CheckContext,
    capabilities: Granted<Needs>,
  ): ToolOutcome<null>;
  /**
   * Describes what a call will do, for its approvers. `before` is the state that `preview` read,
   * with the fields that `redaction.state` lists; null when there is none.
   * Contract: pure and synchronous.
   */
  describe?(args: v.InferOutput<In>, before: JsonObject | null): ActionDescription;
  /**
   * Reads the target's state now and computes its state after the call, for the approvers. Either
   * is null when it is not known. Contract: changes nothing; answers within five seconds.
   */
  preview?(
    args: v.InferOutput<In>,
    context: ToolInvocationContext,
    capabilities: Granted<Needs>,
  ): Promise<StatePreview>;
  /**
   * Fields of the states of `preview` that may change while people decide, each with the reason why
   * that matters to nobody. Keys are dotted paths that `redaction.state` shows. A change of any
   * other shown field asks people again.
   */
  readonly mayDrift?: Readonly<Record<string, string>>;
  /** Finds out how a call with an unknown outcome ended. Contract: changes nothing. */
  reconcile?(
    args: v.InferOutput<In>,
    context: ToolInvocationContext,
    capabilities: Granted<Needs>,
  ): Promise<Reconciliation<Given<v.InferInput<Out>>>>;
  /**
   * Makes the arguments of the tool that `transactional.compensationTool` names. Runs once, after
   * `execute`, with the validated output before redaction. The runner stores the arguments with the
   * outcome.
   * Contract: pure and synchronous. When it throws, or its arguments do not fit, the call stays
   * COMPLETED and cannot be undone.
   */
  compensate?(args: v.InferOutput<In>, output: v.InferOutput<Out>): object;
  /** What a completed call leads to, and when its state is read. `verify` reads it. */
  readonly verification?: VerificationSection<v.InferOutput<In>, v.InferOutput<Out>>;
  /**
   * Reads the target's state some time after the call, and compares it with the expected state.
   * Contract: changes nothing; answers within five seconds; may be called several times.
   */
  verify?(
    args: v.InferOutput<In>,
    expected: ExpectedState,
    context: ToolInvocationContext,
    capabilities: Granted<Needs>,
  ): Promise<Verification>;
  execute(
    args: v.InferOutput<In>,
    context: ToolInvocationContext,
    capabilities: Granted<Needs>,
  ): WithContent<Given<v.InferInput<Out>>> | Promise<WithContent<Given<v.InferInput<Out>>>>;
}

/** The capabilities that the author named, and the two values that every invocation has. */
export type Granted<Needs extends keyof ToolCapabilities> = Pick<ToolCapabilities, Needs> & {
  readonly signal: AbortSignal;
  readonly idempotencyKey: string;
};

export type ToolOutcome<T> = Result<T, ToolFailure> | Promise<Result<T, ToolFailure>>;

/** What `execute` returns: its data, and what the contract allows beside it. */
export type WithContent<T> = Result<T, ToolFailure> & {
  readonly content?: readonly ToolContent[];
  /** For people alone. What does not fit `details` of the contract is left out. */
  readonly details?: object;
};

export interface ToolExample<Args> {
  readonly description: string;
  readonly arguments: Args;
}

/** One condition. Contract: `holds` is pure. */
export interface SemanticRule<Args> {
  readonly code: string;
  /** What is expected. The model repairs its arguments from this text. */
  readonly message: string;
  /** JSON pointer to the field that the failure names. */
  readonly field?: string;
  /** Arguments that fit the schema and break the rule, for rules that random tests rarely break. */
  readonly counterexample?: Args;
  holds(args: Args): boolean;
}

/** What approvers read before they approve a call (seeds/004, confirmation packet). */
export interface ActionDescription {
  readonly action: string;
  readonly consequence: string;
}

/**
 * A target's state before and after a call. Approvers see the fields that `redaction.state` lists.
 */
export interface StatePreview {
  readonly before: GivenObject | null;
  readonly after: GivenObject | null;
}

/** A definition with every section filled in. */
export interface ToolContract<
  In extends ClosedObjectSchema = ClosedObjectSchema,
  Out extends ClosedObjectSchema = ClosedObjectSchema,
  Needs extends keyof ToolCapabilities = keyof ToolCapabilities,
>
  extends
    Omit<
      Required<ToolDefinition<In, Out, Needs>>,
      | "amountField"
      | "ask"
      | "category"
      | "details"
      | "mayDrift"
      | "title"
      | "verification"
      | "workspace"
      | keyof AuthorCode
      | PureFunction
      | keyof Sections
    >,
    Sections,
    Pick<
      ToolDefinition<In, Out, Needs>,
      | "amountField"
      | "ask"
      | "category"
      | "details"
      | "mayDrift"
      | "title"
      | "verification"
      | "workspace"
      | PureFunction
    > {
  /** The author's functions that get capabilities. Only the runner can call them. */
  readonly code: SealedCode;
}

type PureFunction = "compensate" | "describe";

/**
 * A contract with any schemas. Its functions take what its own schema accepts. A saga has steps in
 * place of `execute`.
 */
export type AnyToolContract = Omit<
  ToolContract,
  PureFunction | "ask" | "rules" | "examples" | "verification"
> & {
  readonly ask?: AskSection<never>;
  readonly saga?: SagaPlan;
  readonly verification?: {
    readonly delaySeconds: number;
    expect(args: never, output: never): unknown;
  };
  readonly rules: readonly (Omit<SemanticRule<never>, "counterexample"> & {
    readonly counterexample?: unknown;
  })[];
  readonly examples: readonly { readonly description: string; readonly arguments: unknown }[];
  compensate?(args: never, output: never): object;
  describe?(args: never, before: JsonObject | null): ActionDescription;
};

/** What a saga does: the steps that it makes, and the output that it makes of theirs. */
export interface SagaPlan {
  readonly steps: readonly PlannedStep[];
  /** Makes the saga's output. Contract: pure and synchronous. */
  readonly result: (args: never, results: StepResults) => object;
}

/** One step of a saga: a call of another tool. */
interface PlannedStep {
  readonly tool: string;
  /** Makes the arguments of the step. Contract: pure and synchronous. */
  readonly arguments: (args: never, results: StepResults) => object;
}

/** The outputs of the steps that a saga has made so far, validated and not redacted. */
export interface StepResults {
  /**
   * Reads the output of the last completed step with this tool. Throws when there is none: before
   * the saga starts, no output is known.
   */
  of<Tool extends AnyToolContract>(tool: Tool): v.InferOutput<Tool["output"]>;
}

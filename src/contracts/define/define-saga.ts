import type * as v from "valibot";
import type { Given } from "../../protocol/json/author-data.ts";
import { defineTool } from "./define-tool.ts";
import { ContractError } from "./contract-error.ts";
import type {
  AnyToolContract,
  ClosedObjectSchema,
  StepResults,
  ToolDefinition,
} from "./definition.ts";
import type { RuntimeSection, TransactionalSection } from "./sections.ts";

/**
 * What an author writes: a tool whose work is done by other tools, step by step.
 * The sections are those of a tool; see docs/sagas.md.
 */
export interface SagaDefinition<
  In extends ClosedObjectSchema,
  Out extends ClosedObjectSchema,
  Tools extends readonly AnyToolContract[],
>
  extends
    Pick<
      ToolDefinition<In, Out, never>,
      | "name"
      | "version"
      | "description"
      | "title"
      | "category"
      | "input"
      | "output"
      | "sideEffectClass"
      | "effect"
      | "redaction"
      | "owner"
      | "lifecycle"
      | "allowedUseCases"
      | "forbiddenUseCases"
      | "examples"
      | "security"
      | "transactional"
      | "observability"
      | "shownToModel"
      | "rules"
      | "ask"
      | "describe"
      | "compensate"
      | "errors"
    >,
    Pick<ToolDefinition<In, Out, "workspace">, "checkState" | "mayDrift" | "preview"> {
  /**
   * The workspace that `preview` and `checkState` read. Default: that of the first step that has
   * one.
   */
  readonly workspace?: string;
  /** Longest arguments and result of the saga itself. Units: bytes. */
  readonly runtime?: Pick<RuntimeSection, "maxArgumentsBytes" | "maxResultBytes">;
  /** 1 to 16 calls of other tools, made one after the other. */
  readonly steps: { readonly [Step in keyof Tools]: SagaStep<In, Tools[Step]> };
  /** Makes the saga's output of what its steps returned. Contract: pure and synchronous. */
  readonly result: (args: v.InferOutput<In>, results: StepResults) => Given<v.InferInput<Out>>;
}

/** One step: a tool, and what makes its arguments. */
export interface SagaStep<In extends ClosedObjectSchema, Tool extends AnyToolContract> {
  readonly tool: Tool;
  /**
   * Makes the arguments of the step. Approvers of the saga see and cover arguments that need no
   * results. Contract: pure and synchronous.
   */
  readonly arguments: (
    args: v.InferOutput<In>,
    results: StepResults,
  ) => Given<v.InferInput<Tool["input"]>>;
}

/** Longest time that a contract may name. Unit: milliseconds. */
const MAX_TIMEOUT_MS = 300_000;

/**
 * Declares a saga: a tool whose steps are calls of other tools. The runner makes each step through
 * every gate. When a step fails, the runner undoes the steps before it (docs/sagas.md).
 * Contract: pure; it changes nothing that the author wrote.
 * Fails: throws ContractError for an unknown side-effect class, and for a step without its tool.
 */
export function defineSaga<
  In extends ClosedObjectSchema,
  Out extends ClosedObjectSchema,
  const Tools extends readonly [AnyToolContract, ...AnyToolContract[]],
>(definition: SagaDefinition<In, Out, Tools>): AnyToolContract {
  const { steps, result, runtime, transactional, ...tool } = definition;
  const listed = steps as readonly SagaStep<In, AnyToolContract>[];
  refuseEmptySteps(tool.name, listed);
  // People see where the steps act, and an undo of the saga acts there too.
  const workspace = tool.workspace ?? listed.find((step) => step.tool.workspace)?.tool.workspace;
  const timeoutMs = listed.reduce((sum, step) => sum + step.tool.runtime.timeoutMs, 0);
  const contract = defineTool({
    ...tool,
    capabilities: workspace === undefined ? [] : ["workspace"],
    ...(workspace !== undefined && { workspace }),
    parallel: false,
    // Its steps are verified. Undoing them is its plan while it runs.
    transactional: { verificationRequired: false, ...planOf(definition), ...transactional },
    runtime: {
      ...runtime,
      timeoutMs: Math.min(Math.max(timeoutMs, 1), MAX_TIMEOUT_MS),
      maxRetries: 0,
      retryForMs: 0,
    },
    // A crash makes no step twice: the saga goes on where its records end.
    idempotency: { supported: true, ttlSeconds: null },
    // The one definition without a function that does the work.
  } as unknown as ToolDefinition<In, Out, never>);
  const planned = listed.map((step) => ({ tool: step.tool.name, arguments: step.arguments }));
  return { ...contract, saga: { steps: planned, result } };
}

/** The author of a critical saga still says whether it can be undone when it is complete. */
function planOf({
  sideEffectClass,
  transactional,
}: Pick<ToolDefinition, "sideEffectClass" | "transactional">): Partial<TransactionalSection> {
  const isPlan = sideEffectClass === "MEDIUM_RISK_WRITE" && !transactional?.compensationTool;
  return isPlan ? { semantics: "irreversible_pivot" } : {};
}

/** A bundle gives a tool that is not defined yet as undefined. */
function refuseEmptySteps(
  saga: string,
  steps: readonly { readonly tool: AnyToolContract | undefined }[],
): void {
  const empty = steps.findIndex(({ tool }) => tool === undefined);
  if (empty === -1) return;
  const reason = `step ${empty + 1} has no tool: the tool is not defined yet, because it is this saga`;
  throw new ContractError(
    saga,
    `${reason} or needs it. A saga is no step: name tools of its steps`,
  );
}

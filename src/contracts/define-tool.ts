import type * as v from "valibot";
import type { ToolCapabilities } from "../capabilities/tool-source.ts";
import type { ToolFailure } from "../protocol/observation.ts";
import type { Result } from "../protocol/result.ts";
import type { ToolEffect } from "../protocol/tool-effect.ts";
import type { ToolInvocationContext } from "../protocol/tool-invocation.ts";
import type { Redaction } from "../protocol/tool-spec.ts";

/** A closed object schema: unknown fields of a call never cross the boundary. */
export type ClosedObjectSchema = v.StrictObjectSchema<
  v.ObjectEntries,
  v.ErrorMessage<v.StrictObjectIssue> | undefined
>;

/**
 * What an author writes: the whole boundary between a proposal and an effect.
 * `execute` receives validated arguments and only the capabilities it names; expected failures are
 * returned, a throw is a bug.
 */
export interface ToolContract<
  In extends ClosedObjectSchema = ClosedObjectSchema,
  Out extends ClosedObjectSchema = ClosedObjectSchema,
  Needs extends keyof ToolCapabilities = keyof ToolCapabilities,
> {
  /** `<namespace>__<tool>`, of `[a-zA-Z0-9_-]`, at most 64 characters. */
  readonly name: string;
  readonly version: string;
  /** For the model: when to use it, what its arguments mean, what it does not do. */
  readonly description: string;
  readonly input: In;
  readonly output: Out;
  readonly effect: ToolEffect;
  /** Fields that may leave the runner; a contract without it does not register. */
  readonly redaction: Redaction;
  readonly capabilities: readonly Needs[];
  /** Unit: milliseconds. Default 10000. */
  readonly timeoutMs?: number;
  /** Default 8192; at most 262144. */
  readonly maxArgumentsBytes?: number;
  /** Default 32768; at most 262144. */
  readonly maxResultBytes?: number;
  execute(
    args: v.InferOutput<In>,
    context: ToolInvocationContext,
    capabilities: Pick<ToolCapabilities, Needs> & { readonly signal: AbortSignal },
  ): ToolOutcome<v.InferInput<Out>>;
}

export type ToolOutcome<T> = Result<T, ToolFailure> | Promise<Result<T, ToolFailure>>;

/** Declares a tool; the types of `execute` flow from its schemas and its capabilities. */
export function defineTool<
  const In extends ClosedObjectSchema,
  const Out extends ClosedObjectSchema,
  const Needs extends keyof ToolCapabilities = never,
>(contract: ToolContract<In, Out, Needs>): ToolContract<In, Out, Needs> {
  return contract;
}

import type { JsonObject } from "../protocol/json.ts";
import type { ToolId } from "../protocol/ids.ts";
import type { ToolFailure } from "../protocol/observation.ts";
import type { Result } from "../protocol/result.ts";
import type { ToolEffect } from "../protocol/tool-effect.ts";
import type { ToolInvocationContext } from "../protocol/tool-invocation.ts";
import type { ToolSpec } from "../protocol/tool-spec.ts";
import type { Clock } from "./clock.ts";
import type { RunTitle } from "./run-title.ts";

/** What a tool may be given; a tool names the ones it needs (seeds/000 #3, #29). */
export interface ToolCapabilities {
  readonly clock: Clock;
  readonly runTitle: RunTitle;
}

/**
 * One tool, bound and ready for the runner (seeds/000 #27). It owns its schemas and its redaction;
 * the runner never touches a schema.
 */
export interface BoundToolRuntime {
  readonly id: ToolId;
  readonly version: string;
  readonly spec: ToolSpec;
  readonly effect: ToolEffect;
  /** Unit: milliseconds. */
  readonly timeoutMs: number;
  readonly maxArgumentsBytes: number;
  readonly maxResultBytes: number;
  /** Validates shape, types and bounds in one pass. Contract: pure; never throws. */
  validateInput(args: JsonObject): Result<JsonObject, ToolFailure>;
  /**
   * Runs the tool on validated arguments.
   * Contract: expected failures are returned; a throw is a bug of the tool and becomes UNKNOWN_ERROR.
   */
  exec(
    args: JsonObject,
    context: ToolInvocationContext,
    signal: AbortSignal,
  ): Promise<Result<unknown, ToolFailure>>;
  /** Validates what the tool returned. Contract: pure; never throws. */
  validateOutput(output: unknown): Result<JsonObject, ToolFailure>;
  /** Keeps the allowlisted fields of validated arguments. */
  redactArgs(args: JsonObject): JsonObject;
  /** Keeps the allowlisted fields of validated output. */
  redactOutput(output: JsonObject): JsonObject;
}

/** Where tools come from. Contract: lookups are by own id; an unknown id yields undefined. */
export interface ToolSourcePort {
  getBoundTool(toolId: string): BoundToolRuntime | undefined;
  listToolSpecs(): readonly ToolSpec[];
}

import { failCall } from "../../protocol/outcome/failures.ts";
import type { BoundToolRuntime, BoundTools } from "../../capabilities/tool.ts";
import type { Clock } from "../../capabilities/system.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { isSunset } from "../../protocol/tool/lifecycle.ts";
import type { ToolCall } from "../../protocol/tool/call.ts";
import type { ToolSpec } from "../../protocol/tool/spec.ts";

/** Where a run finds its tools. */
export interface LookupPorts {
  readonly tools: BoundTools;
  /** The version of each tool that the run uses, by tool id. */
  readonly versions: ReadonlyMap<string, ToolSpec>;
  readonly clock: Pick<Clock, "nowMs">;
}

/**
 * The gate `lookup`: finds the run's version of a tool among those that the source gave, by the
 * tool's own id. A tool that models never see does not exist for a model's call. Fails:
 * `unavailable`.
 */
export function lookupTool(
  ports: LookupPorts,
  { name, origin, saga }: Pick<ToolCall, "name" | "origin" | "saga">,
): Result<BoundToolRuntime, ToolFailure> {
  const tool = findTool(ports, name);
  const isAskedByModel = origin === undefined && saga === undefined;
  if (tool && (tool.shownToModel || !isAskedByModel)) return ok(tool);
  return fail({ ...failCall("unknown_tool").failure, errorCode: "unavailable" });
}

/**
 * Finds the run's version of a tool. A version whose sunset came while the run went on is gone.
 */
export function findTool(
  { tools, versions, clock }: LookupPorts,
  name: string,
): BoundToolRuntime | undefined {
  const version = versions.get(name)?.version;
  const tool = version === undefined ? undefined : tools.getBoundTool(name, version);
  return tool && !isSunset(tool.lifecycle, clock.nowMs()) ? tool : undefined;
}

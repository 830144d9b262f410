import type { BoundToolRuntime, ToolSourcePort } from "../../capabilities/tool.ts";
import type { Clock } from "../../capabilities/system.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { isSunset } from "../../protocol/tool/lifecycle.ts";
import type { ToolSpec } from "../../protocol/tool/spec.ts";

/** Where a run finds its tools. */
export interface LookupPorts {
  readonly source: ToolSourcePort;
  /** The version of each tool that the run uses, by tool id. */
  readonly versions: ReadonlyMap<string, ToolSpec>;
  readonly clock: Pick<Clock, "nowMs">;
}

/**
 * The gate `lookup`: finds the run's version of a tool in the bound source, by the tool's own id. A
 * version whose sunset came while the run went on is gone. Fails: `unavailable`.
 */
export function lookupTool(
  { source, versions, clock }: LookupPorts,
  name: string,
): Result<BoundToolRuntime, ToolFailure> {
  const version = versions.get(name)?.version;
  const tool = version === undefined ? undefined : source.getBoundTool(name, version);
  if (tool && !isSunset(tool.lifecycle, clock.nowMs())) return ok(tool);
  return fail({
    taxonomyClass: "STRUCTURAL_VIOLATION",
    errorCode: "unavailable",
    errors: [{ field: null, code: "unknown_tool", message: "there is no such tool" }],
  });
}

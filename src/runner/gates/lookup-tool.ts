import type { BoundToolRuntime, ToolSourcePort } from "../../capabilities/tool.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { isSunset } from "../../protocol/tool/lifecycle.ts";
import type { ToolSpec } from "../../protocol/tool/spec.ts";

/** Where a run finds its tools. Unit: nowMs in Unix milliseconds. */
export interface Lookup {
  readonly source: ToolSourcePort;
  readonly versions: ReadonlyMap<string, ToolSpec>;
  readonly nowMs: number;
}

/**
 * Gate 1: finds the run's version of the tool in the bound source by its own id. A version whose time
 * has come while the run went on is gone. Fails: `unavailable`.
 */
export function lookupTool(
  { source, versions, nowMs }: Lookup,
  name: string,
): Result<BoundToolRuntime, ToolFailure> {
  const version = versions.get(name)?.version;
  const tool = version === undefined ? undefined : source.getBoundTool(name, version);
  if (tool && !isSunset(tool.lifecycle, nowMs)) return ok(tool);
  return fail({
    taxonomyClass: "STRUCTURAL_VIOLATION",
    errorCode: "unavailable",
    errors: [{ field: null, code: "unknown_tool", message: "there is no such tool" }],
  });
}

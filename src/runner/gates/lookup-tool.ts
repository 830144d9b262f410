import type { BoundToolRuntime, ToolSourcePort } from "../../capabilities/tool-source.ts";
import type { ToolFailure } from "../../protocol/observation.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { ToolSpec } from "../../protocol/tool-spec.ts";

/** Gate 1: finds the run's version of the tool in the bound source by its own id. Fails: `unavailable`. */
export function lookupTool(
  source: ToolSourcePort,
  versions: ReadonlyMap<string, ToolSpec>,
  name: string,
): Result<BoundToolRuntime, ToolFailure> {
  const version = versions.get(name)?.version;
  const tool = version === undefined ? undefined : source.getBoundTool(name, version);
  if (tool) return ok(tool);
  return fail({
    taxonomyClass: "STRUCTURAL_VIOLATION",
    errorCode: "unavailable",
    errors: [{ field: null, code: "unknown_tool", message: "there is no such tool" }],
  });
}

import type { BoundToolRuntime, ToolSourcePort } from "../../capabilities/tool-source.ts";
import type { ToolFailure } from "../../protocol/observation.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";

/** Gate 1: finds the tool in the bound source by its own id. Fails: `unavailable`. */
export function lookupTool(
  source: ToolSourcePort,
  name: string,
): Result<BoundToolRuntime, ToolFailure> {
  const tool = source.getBoundTool(name);
  if (tool) return ok(tool);
  return fail({
    taxonomyClass: "STRUCTURAL_VIOLATION",
    errorCode: "unavailable",
    errors: [{ field: null, code: "unknown_tool", message: "there is no such tool" }],
  });
}

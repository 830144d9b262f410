import { decide, type ToolPolicy } from "../protocol/tool-policy.ts";
import type { ToolSpec } from "../protocol/tool-spec.ts";
import { routeVersions, type Routing } from "./route-versions.ts";

/** The tools a model is shown for one request (seeds/000 #18). */
export interface ToolCatalog {
  readonly tools: ReadonlyMap<string, ToolSpec>;
}

/**
 * Compiles the catalog from the known tools and policy, the one way a tool becomes visible. Tools
 * that need approval are left out until a person can be asked (seeds/000, P0).
 */
export function createToolCatalog(
  specs: readonly ToolSpec[],
  policy: ToolPolicy,
  routing: Routing,
): ToolCatalog {
  const tools = new Map<string, ToolSpec>();
  for (const [toolId, spec] of routeVersions(specs, policy, routing)) {
    if (decide(policy, { id: toolId, ...spec }) === "allow") tools.set(toolId, spec);
  }
  return { tools };
}

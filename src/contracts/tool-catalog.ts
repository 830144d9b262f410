import { isSunset } from "../protocol/tool/lifecycle.ts";
import { decide } from "../protocol/policy/decide.ts";
import type { ToolPolicy } from "../protocol/policy/document.ts";
import type { ToolSpec } from "../protocol/tool/spec.ts";
import { routeVersions, type Routing } from "./route-versions.ts";

/** The tools that the model sees for one request (seeds/000 #18). */
export interface ToolCatalog {
  readonly tools: ReadonlyMap<string, ToolSpec>;
}

/**
 * Compiles the catalog from the registered tools and the policy. A tool becomes visible in no other
 * way. The catalog shows tools that need an approval: a call of such a tool requests it.
 */
export function createToolCatalog(
  specs: readonly ToolSpec[],
  policy: ToolPolicy,
  routing: Routing,
): ToolCatalog {
  const tools = new Map<string, ToolSpec>();
  for (const [toolId, spec] of routeVersions(specs, policy, routing)) {
    if (isShown(spec, policy)) tools.set(toolId, spec);
  }
  return { tools };
}

/**
 * Finds one tool that a tenant may see: the version that routing chooses, or the version that the
 * tenant asks for and may use.
 */
export function findTool(
  specs: readonly ToolSpec[],
  policy: ToolPolicy,
  { toolId, version, nowMs }: AskedTool,
): ToolSpec | undefined {
  if (version === undefined) return createToolCatalog(specs, policy, { nowMs }).tools.get(toolId);
  const spec = specs.find((known) => known.name === toolId && known.version === version);
  return spec && !isSunset(spec.lifecycle, nowMs) && isShown(spec, policy) ? spec : undefined;
}

export interface AskedTool {
  readonly toolId: string;
  readonly version: string | undefined;
  readonly nowMs: number;
}

function isShown(spec: ToolSpec, policy: ToolPolicy): boolean {
  return decide(policy, { id: spec.name, ...spec }) !== "deny";
}

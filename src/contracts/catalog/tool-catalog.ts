import { isSunset } from "../../protocol/tool/lifecycle.ts";
import { isAllowed } from "../../protocol/policy/decide.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import type { ToolSpec } from "../../protocol/tool/spec.ts";
import { routeVersions, type Routing } from "./route-versions.ts";

/** The tools that the model sees for one request (seeds/000 #18). */
export interface ToolCatalog {
  readonly tools: ReadonlyMap<string, ToolSpec>;
}

/**
 * Compiles the catalog from the registered tools and the policy. A model sees a tool in no other
 * way. The catalog shows tools that need an approval: a call of such a tool requests it.
 */
export function createToolCatalog(
  specs: readonly ToolSpec[],
  policy: ToolPolicy,
  routing: Routing,
): ToolCatalog {
  const offered = [...listOffered(specs, policy, routing)];
  return { tools: new Map(offered.filter(([, { shownToModel }]) => shownToModel)) };
}

/** Lists the tools that policy allows: those of the catalog, and those that models never see. */
export function listOffered(
  specs: readonly ToolSpec[],
  policy: ToolPolicy,
  routing: Routing,
): ReadonlyMap<string, ToolSpec> {
  const routed = [...routeVersions(specs, policy, routing)];
  return new Map(routed.filter(([, spec]) => isOffered(spec, policy)));
}

/**
 * Finds one tool that a tenant may use: the version that routing chooses, or the version that the
 * tenant asks for and may use.
 */
export function findTool(
  specs: readonly ToolSpec[],
  policy: ToolPolicy,
  { toolId, version, nowMs }: AskedTool,
): ToolSpec | undefined {
  if (version === undefined) return listOffered(specs, policy, { nowMs }).get(toolId);
  const spec = specs.find((known) => known.name === toolId && known.version === version);
  return spec && !isSunset(spec.lifecycle, nowMs) && isOffered(spec, policy) ? spec : undefined;
}

export interface AskedTool {
  readonly toolId: string;
  readonly version: string | undefined;
  readonly nowMs: number;
}

function isOffered(spec: ToolSpec, policy: ToolPolicy): boolean {
  return isAllowed(policy, { id: spec.name, ...spec });
}

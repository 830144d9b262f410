import { isSunset } from "../../protocol/tool/lifecycle.ts";
import { mayCall, type Caller } from "../../protocol/policy/callers.ts";
import { isAllowed } from "../../protocol/policy/decide.ts";
import { mayMove } from "../../protocol/policy/data-classes.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { mayUse, type ToolUser } from "../../protocol/policy/may-use.ts";
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
  { user, ...routing }: Routing & { readonly user: ToolUser },
): ToolCatalog {
  const offered = [...listOffered(specs, policy, { ...routing, caller: user })];
  const isShown = (spec: ToolSpec): boolean =>
    spec.shownToModel && mayUse(policy, { id: spec.name, ...spec }, { ...user, ...routing });
  return { tools: new Map(offered.filter(([, spec]) => isShown(spec))) };
}

/** Whose tools are listed. Absent: those of every caller of the tenant. */
interface ForCaller {
  readonly caller?: Caller;
}

/**
 * Lists the tools that policy allows to a caller: those of the catalog, and those that models never
 * see.
 */
export function listOffered(
  specs: readonly ToolSpec[],
  policy: ToolPolicy,
  { caller, ...routing }: Routing & ForCaller,
): ReadonlyMap<string, ToolSpec> {
  const routed = [...routeVersions(specs, policy, routing)];
  return new Map(routed.filter(([, spec]) => isOffered(spec, policy, caller)));
}

/**
 * Finds one tool that a tenant may use: the version that routing chooses, or the version that the
 * tenant asks for and may use.
 */
export function findTool(
  specs: readonly ToolSpec[],
  policy: ToolPolicy,
  { toolId, version, nowMs, ...whose }: AskedTool,
): ToolSpec | undefined {
  if (version === undefined) return listOffered(specs, policy, { nowMs, ...whose }).get(toolId);
  const spec = specs.find((known) => known.name === toolId && known.version === version);
  const isKnown = spec && !isSunset(spec.lifecycle, nowMs);
  return isKnown && isOffered(spec, policy, whose.caller) ? spec : undefined;
}

export interface AskedTool extends ForCaller {
  readonly toolId: string;
  readonly version: string | undefined;
  readonly nowMs: number;
}

function isOffered(spec: ToolSpec, policy: ToolPolicy, caller: Caller | undefined): boolean {
  const tool = { id: spec.name, ...spec };
  return isAllowed(policy, tool) && (!caller || isFor(policy, tool, caller));
}

function isFor(
  policy: ToolPolicy,
  tool: ToolSpec & { readonly id: string },
  caller: Caller,
): boolean {
  return mayCall(policy, tool, caller) && mayMove(policy, { ...tool, shownData: [] }, caller);
}

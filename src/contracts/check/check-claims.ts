import { isCoreTool } from "../define/core-tool.ts";
import type { AnyToolContract } from "../define/definition.ts";

/**
 * Tells which claim of a contract the runtime does not keep; undefined when it keeps them all.
 * Threat: people, policy and other systems trust a published contract, and nothing holds it.
 */
export function checkClaims(contract: AnyToolContract): string | undefined {
  const { name, capabilities, runtime, security, requiresConnection, workspace } = contract;
  const { egressPolicy, secretsBoundary, tenantScoped } = security;
  const isReserved = /^(?:core|mcp)__/i.test(name) && !isCoreTool(contract);
  if (isReserved)
    return "ids that begin with core__ or mcp__ are reserved; choose another namespace";
  if (capabilities.includes("results") && !isCoreTool(contract)) {
    return "the capability results is for core__read_result alone; leave it out";
  }
  if (runtime.sandboxIsolated) {
    return "there is no sandbox; leave runtime.sandboxIsolated out";
  }
  if (!CHARGED.has(runtime.cost.unit)) {
    return `nothing counts ${runtime.cost.unit} as a cost unit; use call, transaction or second`;
  }
  if (egressPolicy !== "none" && egressPolicy !== "allowlisted_domains") {
    return `egressPolicy ${egressPolicy} is not enforced; use allowlisted_domains or none`;
  }
  const boundary = requiresConnection ? "gateway_injected" : "none";
  if (secretsBoundary !== boundary) {
    const claim = `security.secretsBoundary ${secretsBoundary}`;
    return `${claim} is not kept: it is ${boundary}; leave it out`;
  }
  return !tenantScoped && (requiresConnection || workspace !== undefined)
    ? "workspaces and connections belong to one tenant; leave security.tenantScoped out"
    : undefined;
}

const CHARGED: ReadonlySet<string> = new Set(["call", "transaction", "second"]);

import { WORKSPACES, type RawEnv } from "../env.ts";
import type { Deployment } from "./deployment.ts";

/**
 * Checks that the deployment hosts each workspace that a contract names, each under one name, and
 * that their objects are bound. A deployment without workspaces needs no binding.
 * Contract: pure. Answers one sentence for each problem, for the operator.
 */
export function checkWorkspaces(
  raw: RawEnv,
  { contracts, workspaces }: Pick<Deployment, "contracts" | "workspaces">,
): readonly string[] {
  const hosted = workspaces?.definitions.map(({ name }) => name) ?? [];
  const named = new Set(contracts.flatMap(({ contract }) => contract.workspace ?? []));
  const lost = [...named].filter((name) => !hosted.includes(name));
  const twice = hosted.filter((name, index) => hosted.indexOf(name) !== index);
  const binding = raw[WORKSPACES];
  const isBound = typeof binding === "object" && binding !== null && "idFromName" in binding;
  return [
    ...lost.map((name) => `The workspace ${name} is not hosted; add it to hostWorkspaces`),
    ...twice.map((name) => `Two workspaces are named ${name}; rename one`),
    ...(workspaces && !isBound ? [`binding ${WORKSPACES} is missing`] : []),
  ];
}

import { PolicyCache } from "../adapters/policy-cache.ts";
import type { RegisteredContract } from "../contracts/registered.ts";
import type { ContextHook } from "../capabilities/context.ts";
import type { ModelDeclaration } from "../protocol/model/declaration.ts";
import type { ClientWires } from "../protocol/run/client-wire.ts";
import type { UpstreamSettings } from "../env.ts";
import { CONTEXT_HOOK } from "./assistants.ts";
import { CLIENT_WIRES } from "./client-wires.ts";
import { DECLARED_MODELS } from "./models.ts";

/** What the Worker and the runs in the same isolate share. */
export interface Deployment {
  readonly contracts: readonly RegisteredContract[];
  readonly wires: ClientWires;
  /** Models that are declared in code. */
  readonly models: readonly ModelDeclaration[];
  /** Gives the context of each run. */
  readonly contextHook: ContextHook | undefined;
  /** For each upstream the setting that holds its address: `{ desk: "DESK_URL" }`. */
  readonly upstreams: UpstreamSettings;
  readonly policyCache: PolicyCache;
}

/** What a deployment may choose besides its tools. */
export type DeploymentChoices = Partial<
  Pick<Deployment, "wires" | "models" | "contextHook" | "upstreams">
>;

/** Assembles a deployment with an empty policy cache; an isolate needs one. */
export function createDeployment(
  contracts: readonly RegisteredContract[],
  {
    wires = CLIENT_WIRES,
    models = DECLARED_MODELS,
    contextHook = CONTEXT_HOOK,
    upstreams = {},
  }: DeploymentChoices = {},
): Deployment {
  return { contracts, wires, models, contextHook, upstreams, policyCache: new PolicyCache() };
}

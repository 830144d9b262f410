/** The package `interlock-edge`: what the entry of a deployment uses. It loads in a Worker only. */
import type { WorkspaceDefinition } from "../contracts/define/define-workspace.ts";
import { hostWorkspaces as host } from "../host-workspaces.ts";
import { defineDeployment as define, type DeploymentOptions } from "../define-deployment.ts";

/** Bindings and settings of a Worker, by name. */
export type Bindings = { readonly [name: string]: unknown };

/** What the entry of a Worker exports: the worker as its default, and both classes by name. */
export interface DefinedDeployment {
  readonly worker: { fetch(request: Request, env: Bindings): Promise<Response> };
  readonly RunObject: new (ctx: DurableObjectState, env: Bindings) => Rpc.DurableObjectBranded;
  readonly TenantObject: new (ctx: DurableObjectState, env: Bindings) => Rpc.DurableObjectBranded;
}

/** Defines a deployment; see docs/deployment.md. Nothing is thrown here. */
export const defineDeployment: (options: DeploymentOptions) => DefinedDeployment = define;

/** Hosts workspaces: the option `workspaces` of a deployment; see docs/business-data.md. */
export const hostWorkspaces: (definitions: readonly WorkspaceDefinition[]) => NonNullable<
  DeploymentOptions["workspaces"]
> & {
  readonly WorkspaceObject: new (
    ctx: DurableObjectState,
    env: Bindings,
  ) => Rpc.DurableObjectBranded;
} = host;

export type { DeploymentOptions } from "../define-deployment.ts";
export {
  approvalsPage,
  chatPage,
  gameplanPage,
  referencePage,
  runsPage,
} from "../http/pages/pages.ts";
export type { Page } from "../http/pages/pages.ts";
export type { HookedCall, ToolHook, Veto } from "../capabilities/hook.ts";
export type { AssistantInput } from "../protocol/assistant/document.ts";
export type { ModelDeclaration } from "../protocol/model/declaration.ts";

import type { HostedWorkspaces } from "./compose/deployment.ts";
import { composeWorkspaces } from "./compose/workspaces.ts";
import type { WorkspaceDefinition } from "./contracts/define/define-workspace.ts";
import type { RawEnv } from "./env.ts";
import { WorkspaceObject } from "../durable-objects/workspace/workspace-object.ts";

/** The option `workspaces` of a deployment, and the class that its entry exports. */
export interface WorkspaceHosting extends HostedWorkspaces {
  readonly WorkspaceObject: new (ctx: DurableObjectState, env: RawEnv) => WorkspaceObject;
}

/** Hosts workspaces. A deployment that does not call it carries none of their code. */
export function hostWorkspaces(definitions: readonly WorkspaceDefinition[]): WorkspaceHosting {
  return {
    parts: composeWorkspaces(definitions),
    WorkspaceObject: class extends WorkspaceObject {
      constructor(ctx: DurableObjectState, env: RawEnv) {
        super(ctx, env, definitions);
      }
    },
  };
}

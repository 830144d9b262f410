import { createConsoleLog } from "../adapters/console-log.ts";
import { createDurableWorkspaces } from "../adapters/durable-workspaces.ts";
import { systemClock } from "../adapters/system.ts";
import type { Clock } from "../capabilities/system.ts";
import type { WorkspaceBinder, WorkspaceGateway } from "../capabilities/workspace.ts";
import type { WorkspaceDefinition } from "../contracts/define-workspace.ts";
import { requireEnv, WORKSPACES, type RawEnv } from "../env.ts";
import type { Routes } from "../http/authorise.ts";
import { createWorkspaceRoutes } from "../http/workspace-changes.ts";
import { createWorkspaceBinder } from "../workspace/bind-workspace.ts";
import type { WorkspacePorts } from "../workspace/workspace-data.ts";

/** What a deployment with workspaces adds to the Worker and to its runs. */
export interface WorkspaceParts {
  readonly definitions: readonly WorkspaceDefinition[];
  /** Contract: `isBound` has answered true for these bindings. */
  readonly binderOf: (raw: RawEnv) => WorkspaceBinder;
  /** Contract: as above. */
  readonly routesOf: (raw: RawEnv) => Routes;
}

/** Assembles what the Worker and its runs need of workspaces. */
export function composeWorkspaces(definitions: readonly WorkspaceDefinition[]): WorkspaceParts {
  const gatewayOf = (raw: RawEnv): WorkspaceGateway =>
    createDurableWorkspaces(raw[WORKSPACES] as DurableObjectNamespace);
  return {
    definitions,
    binderOf: (raw) => createWorkspaceBinder(gatewayOf(raw), systemClock),
    routesOf: (raw) => {
      const names = definitions.map(({ name }) => name);
      return createWorkspaceRoutes(names, gatewayOf(raw));
    },
  };
}

/** Assembles what the object of a workspace needs, except its storage. */
export function composeWorkspaceObject(
  raw: RawEnv,
): Pick<WorkspacePorts, "nowMs" | "newId" | "keyKeptMs" | "fault"> & { readonly clock: Clock } {
  const { runMs, keyMs } = requireEnv(raw).lifetimes;
  const log = createConsoleLog();
  return {
    clock: systemClock,
    nowMs: () => systemClock.nowMs(),
    newId: () => crypto.randomUUID(),
    keyKeptMs: Math.max(runMs, keyMs),
    fault: (code, thrown) => log.fault(code, thrown),
  };
}

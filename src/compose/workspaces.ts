import { createConsoleLog } from "../adapters/console-log.ts";
import { createDurableWorkspaces } from "../adapters/durable-workspaces.ts";
import { systemClock } from "../adapters/system.ts";
import type { WorkspaceBinder } from "../capabilities/workspace.ts";
import type { WorkspaceDefinition } from "../contracts/define-workspace.ts";
import { requireEnv, type RawEnv } from "../env.ts";
import { createWorkspaceBinder } from "../workspace/bind-workspace.ts";
import type { WorkspacePorts } from "../workspace/workspace-data.ts";

/** What a deployment with workspaces adds to the Worker and to its runs. */
export interface HostedWorkspaces {
  readonly definitions: readonly WorkspaceDefinition[];
  /** Fails: throws without the binding WORKSPACES. */
  readonly binderOf: (raw: RawEnv) => WorkspaceBinder;
}

/** The binding of the objects of workspaces. */
export const WORKSPACES_BINDING = "WORKSPACES";

/** Assembles what runs need of workspaces. */
export function composeWorkspaces(definitions: readonly WorkspaceDefinition[]): HostedWorkspaces {
  return {
    definitions,
    binderOf(raw) {
      const namespace = raw[WORKSPACES_BINDING] as DurableObjectNamespace;
      return createWorkspaceBinder(createDurableWorkspaces(namespace), systemClock);
    },
  };
}

/** Assembles what the object of a workspace needs, except its storage. */
export function composeWorkspaceObject(
  raw: RawEnv,
): Pick<WorkspacePorts, "nowMs" | "newId" | "keyKeptMs" | "fault"> {
  const { runMs, keyMs } = requireEnv(raw).lifetimes;
  const log = createConsoleLog();
  return {
    nowMs: () => systemClock.nowMs(),
    newId: () => crypto.randomUUID(),
    keyKeptMs: Math.max(runMs, keyMs),
    fault: (code, thrown) => log.fault(code, thrown),
  };
}

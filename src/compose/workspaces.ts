import { createConsoleLog } from "../adapters/platform/console-log.ts";
import { createDurableWorkspaces } from "../adapters/workspace/durable-workspaces.ts";
import { PolicyCache } from "../adapters/policy/policy-cache.ts";
import { systemClock } from "../adapters/platform/system.ts";
import type { Clock } from "../capabilities/system.ts";
import type { WorkspaceBinder, WorkspaceGateway } from "../capabilities/workspace.ts";
import type { WorkspaceDefinition } from "../contracts/define/define-workspace.ts";
import { requireEnv, WORKSPACES, type RawEnv } from "../env.ts";
import type { Routes } from "../http/request/authorise.ts";
import type { Services } from "../http/services.ts";
import { createWorkspaceRoutes } from "../http/workspaces/workspace-changes.ts";
import type { TenantId } from "../protocol/identity/ids.ts";
import { denyAll, type ToolPolicy } from "../protocol/policy/document.ts";
import { readCurrentPolicy } from "../runner/terms.ts";
import { createWorkspaceBinder } from "../workspace/bind-workspace.ts";
import type { WorkspacePorts } from "../workspace/workspace-data.ts";
import { composePolicies } from "./stores.ts";
import { composeTenants } from "./tenant.ts";

/** What a deployment with workspaces adds to the Worker and to its runs. */
export interface WorkspaceParts {
  readonly definitions: readonly WorkspaceDefinition[];
  /** Contract: `isBound` has answered true for these bindings. */
  readonly binderOf: (raw: RawEnv) => WorkspaceBinder;
  /** Contract: as above. */
  readonly routesOf: (raw: RawEnv) => Routes;
  /** Contract: as above. */
  readonly membersChangedOf: (raw: RawEnv) => Services["membersChanged"];
}

/** Assembles what the Worker and its runs need of workspaces. */
export function composeWorkspaces(definitions: readonly WorkspaceDefinition[]): WorkspaceParts {
  const names = definitions.map(({ name }) => name);
  const gatewayOf = (raw: RawEnv): WorkspaceGateway =>
    createDurableWorkspaces(raw[WORKSPACES] as DurableObjectNamespace);
  return {
    definitions,
    binderOf: (raw) => createWorkspaceBinder(gatewayOf(raw), systemClock),
    routesOf: (raw) => createWorkspaceRoutes(names, gatewayOf(raw)),
    membersChangedOf: (raw) => async (tenantId, ids) => {
      const gateway = gatewayOf(raw);
      const addresses = ids.flatMap((workspaceId) =>
        names.map((name) => ({ name, tenantId, workspaceId })),
      );
      await Promise.all(addresses.slice(0, MAX_TOLD).map((address) => gateway.recheck(address)));
    },
  };
}

/** Objects that one change of a policy tells; the platform allows a request 1,000 calls. */
const MAX_TOLD = 500;

/** The objects of workspaces in an isolate share it. */
const policyCache = new PolicyCache();

/** What the object of a workspace needs, except its storage. */
export interface WorkspaceObjectPorts extends Pick<
  WorkspacePorts,
  "nowMs" | "newId" | "keyKeptMs" | "fault" | "noteMismatch"
> {
  readonly clock: Clock;
  /** Reads the current policy; undefined when it cannot be read. Contract: never throws. */
  readonly readPolicy: (tenantId: TenantId) => Promise<ToolPolicy | undefined>;
}

/** Assembles what the object of a workspace needs. */
export function composeWorkspaceObject(raw: RawEnv): WorkspaceObjectPorts {
  const { lifetimes, policyKv, tenants } = requireEnv(raw);
  const { runMs, keyMs } = lifetimes;
  const log = createConsoleLog();
  const ports = {
    policies: composePolicies(policyKv, policyCache),
    registry: composeTenants(tenants).registry,
    policy: denyAll(),
  };
  return {
    clock: systemClock,
    async readPolicy(tenantId) {
      const read = await readCurrentPolicy({ ...ports, principal: { tenantId } });
      return read.ok ? read.value.policy : undefined;
    },
    nowMs: () => systemClock.nowMs(),
    newId: () => crypto.randomUUID(),
    keyKeptMs: Math.max(runMs, keyMs),
    fault: (code, thrown) => log.fault(code, thrown),
    noteMismatch: (operation, mismatch) =>
      log.write({ level: "error", code: "result_refused", reason: operation, mismatch }),
  };
}

import type { RawEnv } from "../../src/env.ts";
import { RunObject as ProductRunObject } from "../../durable-objects/run/run-object.ts";
import { TenantObject as ProductTenantObject } from "../../durable-objects/tenant/tenant-object.ts";
import { plantCrash } from "../shared/crash-points.ts";
import { plantMeter } from "../shared/run-meter.ts";
import { currentLab, LAB_WORKSPACES } from "./lab-deployment.ts";
import { noteStarts } from "./lab-objects.ts";

/** The product's run with the laboratory's tools. */
class LabRunObject extends ProductRunObject {
  constructor(ctx: DurableObjectState, env: RawEnv) {
    plantCrash(ctx);
    super(ctx, plantMeter(ctx, env), currentLab().deployment);
  }
}

/** The product's tenant, which a test can crash at a write. */
class LabTenantObject extends ProductTenantObject {
  constructor(ctx: DurableObjectState, env: RawEnv) {
    plantCrash(ctx, { isNamed: true });
    super(ctx, env);
  }
}

export const RunObject = noteStarts(LabRunObject, "RUNS");
export const TenantObject = noteStarts(LabTenantObject, "TENANTS");
export const WorkspaceObject = noteStarts(LAB_WORKSPACES.WorkspaceObject, "WORKSPACES");

export default {
  fetch: (request: Request, env: RawEnv): Promise<Response> => currentLab().fetch(request, env),
};

import type { RawEnv } from "../../src/env.ts";
import { RunObject as ProductRunObject } from "../../durable-objects/run/run-object.ts";
import { TenantObject as ProductTenantObject } from "../../durable-objects/tenant/tenant-object.ts";
import { plantCrash } from "../shared/crash-points.ts";
import { plantMeter } from "../shared/run-meter.ts";
import { currentLab, LAB_WORKSPACES } from "./lab-deployment.ts";
import { noteStart } from "./lab-objects.ts";

/** The product's run with the laboratory's tools. */
export class RunObject extends ProductRunObject {
  constructor(ctx: DurableObjectState, env: RawEnv) {
    noteStart(ctx, "RUNS");
    plantCrash(ctx);
    super(ctx, plantMeter(ctx, env), currentLab().deployment);
  }
}

export class TenantObject extends ProductTenantObject {
  constructor(ctx: DurableObjectState, env: RawEnv) {
    noteStart(ctx, "TENANTS");
    super(ctx, env);
  }
}

export class WorkspaceObject extends LAB_WORKSPACES.WorkspaceObject {
  constructor(ctx: DurableObjectState, env: RawEnv) {
    noteStart(ctx, "WORKSPACES");
    super(ctx, env);
  }
}

export default {
  fetch: (request: Request, env: RawEnv): Promise<Response> => currentLab().fetch(request, env),
};

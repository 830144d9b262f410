import { RunObject as ProductRunObject } from "../../durable-objects/run/run-object.ts";
import { createDeployment, type Deployment } from "../../src/compose/deployment.ts";
import { composeWorker } from "../../src/compose/worker.ts";
import { registerContracts } from "../../src/contracts/register.ts";
import type { RawEnv } from "../../src/env.ts";
import { connectTown, STORY_TOOLS } from "./story-tools.ts";

export { TenantObject } from "../../durable-objects/tenant/tenant-object.ts";

const DEPLOYMENT = createDeployment(registerContracts(STORY_TOOLS));

/** The product's run with the tools of the story. */
export class RunObject extends ProductRunObject {
  constructor(ctx: DurableObjectState, env: RawEnv) {
    connectTown(env);
    super(ctx, env);
  }

  protected override get deployment(): Deployment {
    return DEPLOYMENT;
  }
}

let worker: ((request: Request) => Promise<Response>) | undefined;

export default {
  fetch(request: Request, env: RawEnv): Promise<Response> {
    worker ??= composeWorker(env, DEPLOYMENT);
    return worker(request);
  },
};

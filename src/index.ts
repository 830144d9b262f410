import type { Deployment } from "./compose/deployment.ts";
import { productDeployment } from "./compose/product-deployment.ts";
import { composeWorker } from "./compose/worker.ts";
import type { RawEnv } from "./env.ts";
import { RunObject as AnyRunObject } from "../durable-objects/run/run-object.ts";

export { TenantObject } from "../durable-objects/tenant/tenant-object.ts";

/** A run with the tools of this deployment. */
export class RunObject extends AnyRunObject {
  protected override get deployment(): Deployment {
    return productDeployment();
  }
}

let handle: ReturnType<typeof composeWorker> | undefined;

export default {
  fetch(request: Request, env: RawEnv): Promise<Response> {
    handle ??= composeWorker(env, productDeployment());
    return handle(request);
  },
};

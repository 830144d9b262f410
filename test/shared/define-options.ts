import type { DeploymentOptions } from "../../src/define-deployment.ts";
import { DEPLOYMENT_OPTIONS } from "../../src/protocol/deployment-options.ts";

/**
 * Stands for `defineDeployment` in entries that only commands load. These read the options and the
 * names of the classes, and most of their time is the bundle of the Worker behind those.
 */
export function defineDeployment(options: DeploymentOptions) {
  return {
    worker: { [DEPLOYMENT_OPTIONS]: options },
    RunObject: () => undefined,
    TenantObject: () => undefined,
  };
}

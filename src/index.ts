import { deployedContracts } from "./compose/deployed-contracts.ts";
import type { RunParts } from "./compose/run.ts";
import { composeWorker } from "./compose/worker.ts";
import type { RawEnv } from "./env.ts";
import { RunObject as AnyRunObject } from "../durable-objects/run/run-object.ts";

export { TenantObject } from "../durable-objects/tenant/tenant-object.ts";

/** A run with the tools of this deployment. */
export class RunObject extends AnyRunObject {
  protected override get contracts(): RunParts["contracts"] {
    return deployedContracts();
  }
}

let handle: ReturnType<typeof composeWorker> | undefined;

export default {
  fetch(request: Request, env: RawEnv): Promise<Response> {
    handle ??= composeWorker(env, deployedContracts());
    return handle(request);
  },
};

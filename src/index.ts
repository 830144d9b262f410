import { composeWorker } from "./compose/worker.ts";
import type { RawEnv } from "./env.ts";

export { RunObject } from "../durable-objects/run/run-object.ts";
export { TenantObject } from "../durable-objects/tenant/tenant-object.ts";

let handle: ReturnType<typeof composeWorker> | undefined;

export default {
  fetch(request: Request, env: RawEnv): Promise<Response> {
    handle ??= composeWorker(env);
    return handle(request);
  },
};

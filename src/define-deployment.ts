import { waitUntil } from "cloudflare:workers";
import { createDeployment, type Deployment, type DeploymentChoices } from "./compose/deployment.ts";
import { composeWorker, refuseAll } from "./compose/worker.ts";
import { readCompiled } from "./contracts/catalog/compiled.ts";
import type { AnyToolContract } from "./contracts/define/definition.ts";
import type { RawEnv } from "./env.ts";
import { DEPLOYMENT_OPTIONS } from "./protocol/deployment-options.ts";
import { RunObject as AnyRunObject } from "../durable-objects/run/run-object.ts";
import { TenantObject } from "../durable-objects/tenant/tenant-object.ts";

/** Everything that a deployment consists of. */
export interface DeploymentOptions extends DeploymentChoices {
  /** Every tool. What a model sees is up to the tenant's policy. */
  readonly tools: readonly AnyToolContract[];
  /** `COMPILED` of `.interlock/contracts.js`, which `interlock build` writes from the tools. */
  readonly compiled: unknown;
}

/** What the entry of a Worker exports: the worker as its default, and both classes by name. */
export interface DefinedDeployment {
  readonly worker: {
    readonly [DEPLOYMENT_OPTIONS]: DeploymentOptions;
    fetch(request: Request, env: RawEnv): Promise<Response>;
  };
  readonly RunObject: new (ctx: DurableObjectState, env: RawEnv) => AnyRunObject;
  readonly TenantObject: typeof TenantObject;
}

/**
 * Defines a deployment: the Worker and the classes of its objects. It is assembled once per
 * isolate, at the first request or run.
 * Fails: nothing is thrown here. When the compiled contracts are not those of the tools, every
 * request is answered with the reason, and no run starts.
 */
export function defineDeployment(options: DeploymentOptions): DefinedDeployment {
  let deployment: Deployment | undefined;
  const assemble = (): Deployment =>
    (deployment ??= createDeployment(readCompiled(options.tools, options.compiled), options));
  let handle: ReturnType<typeof composeWorker> | undefined;
  const compose = (env: RawEnv): ReturnType<typeof composeWorker> => {
    try {
      assemble();
    } catch (error) {
      return refuseAll(error instanceof Error ? error.message : String(error));
    }
    return composeWorker(env, assemble(), waitUntil);
  };
  return {
    worker: {
      [DEPLOYMENT_OPTIONS]: options,
      fetch(request, env) {
        handle ??= compose(env);
        return handle(request);
      },
    },
    RunObject: class extends AnyRunObject {
      constructor(ctx: DurableObjectState, env: RawEnv) {
        super(ctx, env, assemble());
      }
    },
    TenantObject,
  };
}

import * as v from "valibot";
import { RunObject as ProductRunObject } from "../../durable-objects/run/run-object.ts";
import { createDeployment, type Deployment } from "../../src/compose/deployment.ts";
import { TOOL_CONTRACTS } from "../../src/compose/tools.ts";
import { composeWorker } from "../../src/compose/worker.ts";
import { defineTool } from "../../src/contracts/define-tool.ts";
import { registerContracts } from "../../src/contracts/register.ts";
import type { RawEnv } from "../../src/env.ts";
import { ok } from "../../src/protocol/outcome/result.ts";

export { TenantObject } from "../../durable-objects/tenant/tenant-object.ts";

/** A write tool without work of its own. It takes the arguments of the reading tool. */
const writeTime = defineTool({
  name: "bench__write_time",
  version: "1.0.0",
  description: "Changes nothing, but is handled like what does.",
  input: v.strictObject({ timeZone: v.string() }),
  output: v.strictObject({ done: v.boolean() }),
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["timeZone"], output: ["done"] },
  capabilities: [],
  idempotency: { supported: true },
  execute: () => ok({ done: true }),
});

const DEPLOYMENT = createDeployment(registerContracts([...TOOL_CONTRACTS, writeTime]));

/**
 * The product's run with one more tool, and a way to crash its object. With `SYNC` set to `off` no
 * effect waits for its durable record. The difference is what the record costs.
 */
export class RunObject extends ProductRunObject {
  readonly #state: DurableObjectState;

  constructor(ctx: DurableObjectState, env: RawEnv) {
    if (env["SYNC"] === "off") ctx.storage.sync = () => Promise.resolve();
    super(ctx, env);
    this.#state = ctx;
  }

  protected override get deployment(): Deployment {
    return DEPLOYMENT;
  }

  override fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname === "/crash") this.#state.abort("crash");
    return super.fetch(request);
  }
}

let worker: ((request: Request) => Promise<Response>) | undefined;

export default {
  async fetch(request: Request, env: RawEnv): Promise<Response> {
    const [, runId] = /^\/crash\/(.+)$/.exec(new URL(request.url).pathname) ?? [];
    if (runId !== undefined) {
      const runs = env["RUNS"] as DurableObjectNamespace;
      await runs
        .get(runs.idFromName(runId))
        .fetch("https://run/crash")
        .catch(() => {});
      return new Response(null, { status: 204 });
    }
    worker ??= composeWorker(env, DEPLOYMENT);
    return worker(request);
  },
};

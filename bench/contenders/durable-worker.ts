import * as v from "valibot";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import { compileContracts } from "../../src/contracts/catalog/compiled.ts";
import { registerContracts } from "../../src/contracts/check/register.ts";
import { defineDeployment } from "../../src/define-deployment.ts";
import type { RawEnv } from "../../src/env.ts";
import { DEPLOYMENT_OPTIONS } from "../../src/protocol/deployment-options.ts";
import { CORE_TOOLS } from "../../src/core-tools/pack.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import deployed from "./interlock-worker.ts";

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

/** Takes as much text as a model sends. */
const takeText = defineTool({
  name: "bench__take_text",
  version: "1.0.0",
  description: "Takes a text.",
  input: v.strictObject({ text: v.string() }),
  output: v.strictObject({ chars: v.number() }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: [], output: ["chars"] },
  capabilities: [],
  execute: ({ text }) => ok({ chars: text.length }),
});

const DEPLOYED = [...CORE_TOOLS, writeTime, takeText];

const product = defineDeployment({
  ...deployed[DEPLOYMENT_OPTIONS],
  tools: DEPLOYED,
  compiled: compileContracts(registerContracts(DEPLOYED)),
});

/**
 * The product's run with two more tools, and a way to crash its object. With `SYNC` set to `off` no
 * effect waits for its durable record. The difference is what the record costs.
 */
export class RunObject extends product.RunObject {
  readonly #state: DurableObjectState;

  constructor(ctx: DurableObjectState, env: RawEnv) {
    if (env["SYNC"] === "off") ctx.storage.sync = () => Promise.resolve();
    super(ctx, env);
    this.#state = ctx;
  }

  override fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname === "/crash") this.#state.abort("crash");
    return super.fetch(request);
  }
}

export const { TenantObject } = product;

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
    return product.worker.fetch(request, env);
  },
};

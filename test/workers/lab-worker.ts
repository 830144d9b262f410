import { CLIENT_WIRES } from "../../src/compose/client-wires.ts";
import { composeWorker } from "../../src/compose/worker.ts";
import { TOOL_CONTRACTS } from "../../src/compose/tools.ts";
import type { RunParts } from "../../src/compose/run.ts";
import { registerContracts } from "../../src/contracts/register.ts";
import type { RawEnv } from "../../src/env.ts";
import type { ClientWires } from "../../src/protocol/run/client-wire.ts";
import { RunObject as ProductRunObject } from "../../durable-objects/run/run-object.ts";
import { lineWire } from "../fakes/line-wire.ts";
import { plantCrash } from "../shared/crash-points.ts";
import { plantMeter } from "../shared/run-meter.ts";
import { askLabContext } from "./lab-context.ts";
import { LAB_MODELS } from "./lab-models.ts";
import { LAB_TOOLS } from "./lab-tools.ts";

export { TenantObject } from "../../durable-objects/tenant/tenant-object.ts";

const WIRES: ClientWires = [...CLIENT_WIRES, lineWire];
const CONTRACTS = registerContracts([...TOOL_CONTRACTS, ...LAB_TOOLS]);

/** The product's run with the laboratory's tools. */
export class RunObject extends ProductRunObject {
  constructor(ctx: DurableObjectState, env: RawEnv) {
    plantCrash(ctx);
    super(ctx, plantMeter(ctx, env));
  }

  protected override get contracts(): RunParts["contracts"] {
    return CONTRACTS;
  }

  protected override get models(): RunParts["models"] {
    return LAB_MODELS;
  }

  protected override get contextHook(): RunParts["contextHook"] {
    return askLabContext;
  }

  protected override get wires(): ClientWires {
    return WIRES;
  }
}

let worker: ((request: Request) => Promise<Response>) | undefined;

export default {
  fetch(request: Request, env: RawEnv): Promise<Response> {
    worker ??= composeWorker(env, CONTRACTS, { wires: WIRES, models: LAB_MODELS });
    return worker(request);
  },
};

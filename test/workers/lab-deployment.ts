import { waitUntil } from "cloudflare:workers";
import {
  createDeployment,
  type Deployment,
  type DeploymentChoices,
} from "../../src/compose/deployment.ts";
import { composeWorker } from "../../src/compose/worker.ts";
import { registerContracts } from "../../src/contracts/check/register.ts";
import type { RawEnv } from "../../src/env.ts";
import { openAIClientTools } from "../../src/http/clients/openai-client-tools.ts";
import { TOOLS } from "../../src/tools/index.ts";
import { EVERY_WIRE_AND_PAGE } from "../shared/deployment.ts";
import { lineWire } from "../fakes/line-wire.ts";
import { beforeEachFile } from "../shared/fresh-state.ts";
import { askLabContext } from "./lab-context.ts";
import { askLabHooks } from "./lab-hooks.ts";
import { LAB_MODELS } from "./lab-models.ts";
import { hostWorkspaces } from "../../src/host-workspaces.ts";
import { gameplanWorkspace } from "../../apps/gameplan/workspace.ts";
import { labWorkspace } from "./lab-workspaces.ts";
import { labSource } from "./lab-source.ts";
import { LAB_TOOLS } from "./lab-tools.ts";

const CONTRACTS = registerContracts([...TOOLS, ...LAB_TOOLS]);

/** The workspaces of the laboratory, and the class of their objects. */
export const LAB_WORKSPACES = hostWorkspaces([labWorkspace, gameplanWorkspace]);

const { wires } = EVERY_WIRE_AND_PAGE;

/** The product with the laboratory's tools, as one isolate keeps it. */
class Lab {
  readonly deployment: Deployment;
  #handle: ReturnType<typeof composeWorker> | undefined;

  constructor(choices: Partial<DeploymentChoices> = {}) {
    const deployment = createDeployment(CONTRACTS, {
      ...EVERY_WIRE_AND_PAGE,
      wires: {
        models: wires.models,
        clients: [...wires.clients, lineWire],
        clientTools: openAIClientTools,
      },
      models: LAB_MODELS,
      context: askLabContext,
      hooks: askLabHooks,
      upstreams: { shop: "SHOP_URL" },
      workspaces: LAB_WORKSPACES,
      ...choices,
    });
    this.deployment = { ...deployment, source: labSource(CONTRACTS) };
  }

  fetch(request: Request, env: RawEnv): Promise<Response> {
    this.#handle ??= composeWorker(env, this.deployment, waitUntil);
    return this.#handle(request);
  }
}

let lab = new Lab();
beforeEachFile(() => {
  lab = new Lab();
});

/** Gives the rest of the current test file a laboratory with more options. */
export function changeLab(choices: Partial<DeploymentChoices>): void {
  lab = new Lab(choices);
}

/** Gives the laboratory of the current test file. */
export function currentLab(): Lab {
  return lab;
}

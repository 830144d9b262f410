import {
  createDeployment,
  type Deployment,
  type DeploymentChoices,
} from "../../src/compose/deployment.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { registerContracts } from "../../src/contracts/check/register.ts";
import { approvalsPage, chatPage, referencePage } from "../../src/http/pages/pages.ts";
import { openMetrics } from "../../src/http/metrics/open-metrics.ts";
import { replayRuns } from "../../src/replay-runs.ts";
import { anthropicWire } from "../../src/wire/anthropic/wire.ts";
import { assistantTransport } from "../../src/wire/assistant-transport/wire.ts";
import { openAICompletions } from "../../src/http/clients/openai-completions.ts";
import { openAIResponses } from "../../src/http/clients/openai-responses.ts";
import { uiMessage } from "../../src/http/clients/ui-chat.ts";
import { uiMessage6 } from "../../src/http/clients/ui-chat-6.ts";
import { agUi } from "../../src/http/clients/ag-ui.ts";
import { openAIWire } from "../../src/wire/openai/wire.ts";
import { responsesWire } from "../../src/wire/responses/wire.ts";

/** The wires, the pages and the metrics of the product. */
export const EVERY_WIRE_AND_PAGE: DeploymentChoices = {
  wires: {
    models: [openAIWire, responsesWire, anthropicWire],
    clients: [assistantTransport, uiMessage, uiMessage6, agUi, openAIResponses, openAICompletions],
  },
  metrics: openMetrics,
  replay: replayRuns,
  pages: [chatPage, approvalsPage, referencePage],
};

/** Registers tools without a build, and deploys them with the wires and pages of the product. */
export function deploymentOf(
  tools: readonly AnyToolContract[],
  choices: Partial<DeploymentChoices> = {},
): Deployment {
  return createDeployment(registerContracts(tools), { ...EVERY_WIRE_AND_PAGE, ...choices });
}

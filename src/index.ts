import { COMPILED } from "../.interlock/contracts.js";
import { defineDeployment } from "./define-deployment.ts";
import { approvalsPage, chatPage } from "./http/pages.ts";
import { TOOLS } from "./tools/index.ts";
import { anthropicWire } from "./wire/anthropic/wire.ts";
import { assistantTransport } from "./wire/assistant-transport/wire.ts";
import { openAIWire } from "./wire/openai/wire.ts";
import { responsesWire } from "./wire/responses/wire.ts";

const deployment = defineDeployment({
  tools: TOOLS,
  compiled: COMPILED,
  wires: { models: [openAIWire, responsesWire, anthropicWire], clients: [assistantTransport] },
  pages: [chatPage, approvalsPage],
});

export const { RunObject, TenantObject } = deployment;
export default deployment.worker;

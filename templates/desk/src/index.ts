import { approvalsPage, chatPage, defineDeployment, runsPage } from "interlock-edge";
import { assistantTransport } from "interlock-edge/wires/assistant-transport";
import { openAIWire } from "interlock-edge/wires/openai";
import { responsesWire } from "interlock-edge/wires/responses";
import { COMPILED } from "../.interlock/contracts.js";
import { TOOLS } from "./tools/index.ts";

const deployment = defineDeployment({
  tools: TOOLS,
  compiled: COMPILED,
  wires: { models: [responsesWire, openAIWire], clients: [assistantTransport] },
  upstreams: { desk: "DESK_URL" },
  pages: [chatPage, approvalsPage, runsPage],
});

export const { RunObject, TenantObject } = deployment;
export default deployment.worker;

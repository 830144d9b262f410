import { defineDeployment } from "../../src/define-deployment.ts";
import { CORE_TOOLS } from "../../src/core-tools/pack.ts";
import { otlpTraces } from "../../src/otlp-traces.ts";
import { assistantTransport } from "../../src/wire/assistant-transport/wire.ts";
import { openAIWire } from "../../src/wire/openai/wire.ts";

/** The contracts as the build stores them; `bundleContender` fills it in. */
declare const COMPILED_CORE_TOOLS: string;

/** Interlock as it is measured otherwise, with traces. */
const deployment = defineDeployment({
  tools: CORE_TOOLS,
  compiled: JSON.parse(COMPILED_CORE_TOOLS),
  wires: { models: [openAIWire], clients: [assistantTransport] },
  traces: otlpTraces,
});

export const { RunObject, TenantObject } = deployment;
export default deployment.worker;

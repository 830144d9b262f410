import type { ModelWire } from "../model/model-wire.ts";
import { createResponseDecoder } from "./responses-tool-decoder.ts";
import { encodeMessage, encodeRequest, encodeTool } from "./responses-tool-encoder.ts";

/** OpenAI's Responses, the only wire on which its current models take tools. */
export const responsesWire: ModelWire = {
  id: "responses",
  path: "/responses",
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  encodeRequest,
  encodeMessage,
  encodeTool: (spec) => encodeTool(spec, true),
  tokensPerRequest: 64,
  createDecoder: createResponseDecoder,
};

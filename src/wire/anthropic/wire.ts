import type { ModelWire } from "../model/model-wire.ts";
import { createMessageDecoder } from "./anthropic-tool-decoder.ts";
import { encodeMessage, encodeRequest, encodeTool } from "./anthropic-tool-encoder.ts";

/** Anthropic's Messages. */
export const anthropicWire: ModelWire = {
  id: "anthropic",
  path: "/messages",
  headers: (apiKey) => ({ "x-api-key": apiKey, "anthropic-version": "2023-06-01" }),
  encodeRequest,
  encodeMessage,
  encodeTool,
  // The provider adds instructions to a request that has tools.
  tokensPerRequest: 700,
  createDecoder: createMessageDecoder,
};

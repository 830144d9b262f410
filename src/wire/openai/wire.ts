import type { ModelWire } from "../model/model-wire.ts";
import { createChunkDecoder } from "./openai-tool-decoder.ts";
import { encodeMessages, encodeRequest, encodeTools } from "./openai-tool-encoder.ts";

/** OpenAI's Chat Completions, which most servers speak. */
export const openAIWire: ModelWire = {
  id: "openai",
  path: "/chat/completions",
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  encodeRequest,
  encodeMessage(message) {
    const encoded = encodeMessages([message]);
    return encoded.length === 1 ? encoded[0] : encoded;
  },
  // Strict schemas are longer than plain ones.
  encodeTool: (spec) => encodeTools([spec], true).tools,
  tokensPerRequest: 64,
  createDecoder: createChunkDecoder,
};

import * as v from "valibot";
import { isJsonObject, type JsonObject } from "../../protocol/json/value.ts";

const MAX_MESSAGES = 1_000;

const object = v.custom<JsonObject>(isJsonObject, "a JSON object");

/**
 * What a client posts to `/v1/chat/completions`. A member that is not here changes nothing;
 * docs/clients.md names them. Source: openai 7.55.0, ChatCompletionCreateParams.
 */
export const completionPost = v.object({
  model: v.nullish(v.string()),
  messages: v.pipe(v.array(object), v.maxLength(MAX_MESSAGES)),
  stream: v.nullish(v.boolean()),
  stream_options: v.nullish(object),
  tools: v.nullish(v.array(v.unknown())),
  functions: v.nullish(v.array(v.unknown())),
  n: v.nullish(v.number()),
  response_format: v.nullish(object),
});
export type CompletionPost = v.InferOutput<typeof completionPost>;

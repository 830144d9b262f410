import type { JsonObject } from "../../protocol/json/value.ts";
import type { ModelWireId } from "../../protocol/model/declaration.ts";

const EVENTS_OF_MESSAGES =
  /^(?:message(?:_start|_delta|_stop)?|content_block_(?:start|delta|stop))$/;

/** Tells which wire an event or a whole answer looks like; undefined when it could be any. */
export function wireOf({ type, object, choices }: JsonObject): ModelWireId | undefined {
  if (Array.isArray(choices)) return "openai";
  if (object === "response") return "responses";
  if (typeof type !== "string") return undefined;
  if (type.startsWith("response.")) return "responses";
  return EVENTS_OF_MESSAGES.test(type) ? "anthropic" : undefined;
}

/** Says how to correct the wire of a model. Holds nothing of the provider's text. */
export function describeWrongWire(asked: ModelWireId, found: ModelWireId, model = "NAME"): string {
  return (
    `the answer is that of the wire ${found}, but the model is on the wire ${asked}. Name it ` +
    `${found}:${model} in MODELS, or say wire: "${found}" where it is declared`
  );
}

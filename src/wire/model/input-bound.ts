import type { ShownTool } from "../../protocol/tool/spec.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import { boundFiles, type FileAbilities, fitMessage } from "./message-parts.ts";
import type { ModelWire } from "./model-wire.ts";
import { utf8Length } from "./utf8-length.ts";

/** Allowance for what a provider adds to each message or tool. Unit: tokens. */
const PER_ITEM = 16;

export interface BoundedRequest {
  readonly messages: readonly TranscriptMessage[];
  readonly tools: readonly ShownTool[];
}

/**
 * Builds a function that bounds the input tokens of a wire's request by its bytes. In a byte-level
 * encoding each token stands for at least one byte. A file counts as the model declares; without a
 * declared bound the request is unbounded.
 * Contract: that of InputBound. Limit: text that a provider adds beyond the allowances is not
 * counted.
 */
export function createInputBound(
  wire: Pick<ModelWire, "encodeMessage" | "encodeTool" | "tokensPerRequest">,
  can: FileAbilities = { images: false, files: false },
): (request: BoundedRequest) => number {
  const known = new WeakMap<object, number>();
  const measure = <T extends object>(item: T, encode: (item: T) => unknown): number => {
    const bound = known.get(item) ?? utf8Length(JSON.stringify(encode(item))) + PER_ITEM;
    known.set(item, bound);
    return bound;
  };
  const encodeFitted = (message: TranscriptMessage): unknown =>
    wire.encodeMessage(fitMessage(message, can));
  return ({ messages, tools }) => {
    let bound = wire.tokensPerRequest;
    for (const message of messages) {
      bound += measure(message, encodeFitted) + boundFiles(fitMessage(message, can), can);
    }
    for (const tool of tools) bound += measure(tool, wire.encodeTool);
    return bound;
  };
}

/**
 * Bounds the input tokens of a request whose wire is known only when it is sent. A file makes the
 * request unbounded, unless the abilities are known and have a bound.
 */
export function createWidestInputBound(
  wires: readonly Parameters<typeof createInputBound>[0][],
  can: FileAbilities = { images: true, files: true },
): (request: BoundedRequest) => number {
  const bounds = wires.map((wire) => createInputBound(wire, can));
  return (request) => Math.max(...bounds.map((bound) => bound(request)));
}

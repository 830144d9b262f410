import type { ToolSpec } from "../../protocol/tool/spec.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import { encodeMessage, encodeTools } from "./openai-tool-encoder.ts";
import { utf8Length } from "./utf8-length.ts";

/** What a provider puts around a message or a tool of its own. Unit: tokens. */
const PER_ITEM = 16;
/** What it puts before all of them, such as how tools are to be used. Unit: tokens. */
const PER_REQUEST = 64;

interface Request {
  readonly messages: readonly TranscriptMessage[];
  readonly tools: readonly ToolSpec[];
}

/**
 * Makes a measure of requests to Chat Completions: the bytes of what is sent, for in a byte-level encoding
 * no token stands for less than one.
 * Contract: that of InputBound. Limit: what a provider adds of its own beyond a few tokens for each message
 * is not in it.
 */
export function createInputBound(): (request: Request) => number {
  const known = new WeakMap<object, number>();
  const measure = <T extends object>(item: T, encode: (item: T) => unknown): number => {
    const bound = known.get(item) ?? utf8Length(JSON.stringify(encode(item))) + PER_ITEM;
    known.set(item, bound);
    return bound;
  };
  return ({ messages, tools }) => {
    let bound = PER_REQUEST;
    for (const message of messages) bound += measure(message, encodeMessage);
    for (const tool of tools) bound += measure(tool, encodeTool);
    return bound;
  };
}

/** Strict schemas are the longer ones. */
function encodeTool(spec: ToolSpec): unknown {
  return encodeTools([spec], true).tools;
}

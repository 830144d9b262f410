import { isJsonObject, type JsonValue } from "../json/value.ts";
import { utf8Bytes } from "../text/encoding.ts";
import type { KeptContent } from "../tool/content.ts";
import { truncateResult } from "../tool/truncate-result.ts";
import type { TranscriptMessage } from "./message.ts";

/** Longest data of a result in a shortened turn. Unit: bytes of JSON. */
const MAX_RESULT_BYTES = 1_024;

/** Names how turns are shortened, so that a run never goes on with another prompt. */
export const SHORTENING = 1;

const WARNING = "Only a part of this earlier result is shown.";

/**
 * Shortens what tools answered in an earlier turn. The provider's own form of an answer goes: it is
 * the longest part of a reasoning model's turn, and text and calls say the same.
 * Contract: pure; idempotent; every message keeps its place and its labels.
 */
export function shortenTurn(messages: readonly TranscriptMessage[]): readonly TranscriptMessage[] {
  return messages.map((message) => {
    if (message.role === "assistant") {
      const { opaque: _opaque, ...plain } = message;
      return plain;
    }
    if (message.role !== "tool") return message;
    const { content, result } = message;
    const short = { ...message, result: shortenResult(result) };
    return content ? { ...short, content: content.map(shortenContent) } : short;
  });
}

/** Of an observation only its data can be long. Another result came from a client. */
function shortenResult(result: JsonValue): JsonValue {
  const payload = isJsonObject(result) ? result["result_payload"] : undefined;
  if (!isJsonObject(result) || !isJsonObject(payload)) return cut(result);
  const data = cut(payload["data"] ?? null);
  if (data === payload["data"]) return result;
  const { warnings } = payload;
  const told = [...(Array.isArray(warnings) ? warnings : []), WARNING];
  return { ...result, result_payload: { ...payload, data, warnings: told } };
}

function shortenContent(part: KeptContent): KeptContent {
  if (part.type === "text") {
    const text = cut(part.text);
    return { type: "text", text: typeof text === "string" ? text : "" };
  }
  const { mediaType, bytes } = part.source;
  return { type: "text", text: `[An earlier image is left out: ${mediaType}, ${bytes} bytes.]` };
}

/** Contract: answers the same value where it is short enough. */
function cut(value: JsonValue): JsonValue {
  const isShort = utf8Bytes(JSON.stringify(value)) <= MAX_RESULT_BYTES;
  return isShort ? value : (truncateResult({ value }, MAX_RESULT_BYTES)?.["value"] ?? null);
}

import { hasFiniteNumbers } from "../../protocol/json/guard.ts";
import { isJsonObject, type JsonObject } from "../../protocol/json/value.ts";
import { parseJson } from "../request/read-json.ts";

/** A message as `POST /v1/chat` takes it; nothing of it is checked yet. */
interface PostedMessage {
  readonly role: unknown;
  content: unknown;
}

/**
 * Puts a history that a client of OpenAI posts into the words of `POST /v1/chat`, whose checks
 * decide about it: what an assistant or a tool is said to have said is untrusted there, too.
 */
export class PostedHistory {
  readonly messages: PostedMessage[] = [];

  /** Instructions of several sources are one message. */
  instruct(text: unknown): void {
    const last = this.messages.at(-1);
    if (last?.role !== "system") this.messages.push({ role: "system", content: text });
    else last.content = `${String(last.content)}\n\n${String(text)}`;
  }

  say(role: unknown, content: unknown): void {
    const isPlain = role === "assistant" && typeof content === "string";
    this.messages.push({ role, content: isPlain ? [{ type: "text", text: content }] : content });
  }

  call(toolCallId: unknown, toolName: unknown, argumentsText: unknown): void {
    if (this.messages.at(-1)?.role !== "assistant") this.say("assistant", []);
    const last = this.messages.at(-1);
    const part = { type: "tool-call", toolCallId, toolName, args: readArguments(argumentsText) };
    if (last && Array.isArray(last.content)) last.content.push(part);
  }

  answer(toolCallId: unknown, result: unknown): void {
    this.messages.push({
      role: "tool",
      content: [{ type: "tool-result", toolCallId, result }],
    });
  }
}

/** Reads arguments in a text within a body, as strictly as the body. */
function readArguments(text: unknown): JsonObject | undefined {
  const read = typeof text === "string" ? parseJson(text) : undefined;
  const value = read?.ok ? read.value.value : undefined;
  return isJsonObject(value) && hasFiniteNumbers(value) ? value : undefined;
}

/** Reads one part of a message, in the words of either of the two protocols of OpenAI. */
export function toContent(part: unknown): unknown {
  if (!isJsonObject(part)) return part;
  const { type, text, image_url: image } = part;
  switch (typeof type === "string" ? type : "") {
    case "input_text":
    case "output_text":
    case "text":
      return { type: "text", text };
    case "refusal":
      return { type: "text", text: part["refusal"] };
    case "input_image":
    case "image_url":
      return { type: "image", image: isJsonObject(image) ? image["url"] : image };
    case "input_file":
    case "file":
      return toFile(isJsonObject(part["file"]) ? part["file"] : part);
    default:
      return part;
  }
}

function toFile({ file_data, file_url, filename }: JsonObject): unknown {
  const data = file_data ?? file_url;
  const [, mimeType = "application/pdf"] =
    /^data:([^;,]+)/.exec(typeof data === "string" ? data : "") ?? [];
  return { type: "file", data, mimeType, ...(filename !== undefined && { filename }) };
}

/** Reads the content of a message: a text, or parts. */
export function toContents(content: unknown): unknown {
  return Array.isArray(content) ? content.map(toContent) : content;
}

/** Reads content that is text alone. */
export function joinTexts(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content.map((part) => (isJsonObject(part) ? part["text"] : part)).join("");
}

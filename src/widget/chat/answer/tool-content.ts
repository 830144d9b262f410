import { isJsonObject, type JsonValue } from "../../../protocol/json/value.ts";
import { shorten } from "./fields.ts";

/** A part of what a tool answered beside its data. Images count from 1. */
export type ToolContentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly number: number };

const MAX_PARTS = 100;

/** Reads the untrusted artifact of a result. What is no text and no image is left out. */
export function readToolContent(artifact: JsonValue | undefined): readonly ToolContentPart[] {
  const content = isJsonObject(artifact) ? artifact["content"] : undefined;
  if (!Array.isArray(content)) return [];
  let images = 0;
  return content.slice(0, MAX_PARTS).flatMap((part: JsonValue): readonly ToolContentPart[] => {
    if (!isJsonObject(part)) return [];
    const { type, text } = part;
    if (type === "image") return [{ type, number: ++images }];
    return type === "text" && typeof text === "string" ? [{ type, text: shorten(text) }] : [];
  });
}

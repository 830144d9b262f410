import { beginsAs, bytesOf, isBase64 } from "../../protocol/conversation/file-content.ts";
import { IMAGE_TYPES } from "../../protocol/conversation/file-part.ts";
import { isJsonObject } from "../../protocol/json/value.ts";
import type { ContentLimits, ContentPart } from "../../protocol/tool/content.ts";

/** Most parts of one answer. */
const MAX_PARTS = 32;

/**
 * Reads what a tool returned beside its data. Undefined for content that the contract does not
 * allow: another type, more or larger images than declared, text where none is declared.
 * Threat: bytes that are not what their type says, or an address that somebody would have to fetch.
 * Contract: pure; linear. A text that is too long is cut later.
 */
export function readContent(
  content: unknown,
  { maxImages, maxImageBytes, maxTextBytes }: ContentLimits,
): readonly ContentPart[] | undefined {
  if (content === undefined) return [];
  if (!Array.isArray(content) || content.length > MAX_PARTS) return undefined;
  let images = 0;
  let imageBytes = 0;
  const parts: ContentPart[] = [];
  for (const sent of content) {
    const part = readPart(sent);
    if (!part) return undefined;
    if (part.type === "image") {
      images++;
      imageBytes += part.source.bytes;
    }
    parts.push(part);
  }
  const hasText = parts.some(({ type }) => type === "text");
  const isAllowed =
    images <= maxImages && imageBytes <= maxImageBytes && (maxTextBytes > 0 || !hasText);
  return isAllowed ? parts : undefined;
}

function readPart(sent: unknown): ContentPart | undefined {
  if (!isJsonObject(sent)) return undefined;
  const { type, text, mediaType: named, base64, ...more } = sent;
  if (Object.keys(more).length > 0) return undefined;
  if (type === "text") {
    const isText = typeof text === "string" && named === undefined && base64 === undefined;
    return isText ? { type, text } : undefined;
  }
  const mediaType = IMAGE_TYPES.find((known) => known === named);
  if (type !== "image" || text !== undefined || !mediaType) return undefined;
  if (typeof base64 !== "string" || !isBase64(base64)) return undefined;
  if (!beginsAs(mediaType, base64)) return undefined;
  return { type, source: { kind: "new", mediaType, bytes: bytesOf(base64), base64 } };
}

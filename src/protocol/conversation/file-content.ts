import { DOCUMENT_TYPES, IMAGE_TYPES, type MediaType } from "./file-part.ts";

/** How the bytes of each type begin. `?` stands for any byte. */
const SIGNATURES: { readonly [Type in MediaType]: readonly string[] } = {
  "image/png": ["\x89PNG\r\n\x1a\n"],
  "image/jpeg": ["\xff\xd8\xff"],
  "image/gif": ["GIF87a", "GIF89a"],
  "image/webp": ["RIFF????WEBP"],
  "application/pdf": ["%PDF-"],
};
const LONGEST_SIGNATURE = 12;

/** Tells whether content begins as its type does. Contract: the content is base64. */
export function beginsAs(mediaType: MediaType, base64: string): boolean {
  const head = atob(base64.slice(0, (LONGEST_SIGNATURE / 3) * 4));
  return SIGNATURES[mediaType].some((signature) =>
    Array.from(signature).every((byte, at) => byte === "?" || byte === head[at]),
  );
}

/** Tells whether a text names a type that Interlock takes. */
export function isMediaType(text: string): text is MediaType {
  return MEDIA_TYPES.some((type) => type === text);
}

/** Every type that Interlock takes. */
export const MEDIA_TYPES: readonly MediaType[] = [...IMAGE_TYPES, ...DOCUMENT_TYPES];

/** Tells whether a text is base64 with its padding and nothing else. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}

/** Counts the bytes that a base64 text stands for. */
export function bytesOf(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}

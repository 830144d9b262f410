import type { ImageType, KeptFile } from "../conversation/file-part.ts";

/** What a tool's answer may hold beside its data. */
export interface ContentLimits {
  /** Images of one answer. At most 16; 0: none. */
  readonly maxImages: number;
  /** All images of one answer together. At most 3 MiB. */
  readonly maxImageBytes: number;
  /** All texts of one answer together, as JSON. At most 262144; 0: none. */
  readonly maxTextBytes: number;
}

/** What a tool answers beside its data, for the model. Images are PNG, JPEG, GIF or WebP. */
export type ToolContent =
  | TextContent
  | { readonly type: "image"; readonly mediaType: ImageType; readonly base64: string };

interface TextContent {
  readonly type: "text";
  readonly text: string;
}

/** An image that the conversation does not keep yet. */
export interface NewImage {
  readonly kind: "new";
  readonly mediaType: ImageType;
  readonly bytes: number;
  readonly base64: string;
}

/** A new image and its hash. */
export interface HashedImage extends NewImage {
  readonly hash: string;
}

/** A part of checked content. */
export type ContentPart<Source = NewImage | HashedImage | KeptFile> =
  | TextContent
  | { readonly type: "image"; readonly source: Source };

/** A part of content as the conversation keeps it. */
export type KeptContent = ContentPart<KeptFile>;

/** A part of content as readers and hooks see it: of an image only what it is. */
export type ShownContent =
  | TextContent
  | { readonly type: "image"; readonly mediaType: string; readonly bytes: number };

/** Describes content for readers and hooks. Contract: pure. */
export function showContent(parts: readonly ContentPart[]): readonly ShownContent[] {
  return parts.map((part) => {
    if (part.type === "text") return part;
    const { mediaType, bytes } = part.source;
    return { type: "image", mediaType, bytes };
  });
}

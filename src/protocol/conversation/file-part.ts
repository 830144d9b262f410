import type { RunId } from "../identity/ids.ts";

export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];
export const DOCUMENT_TYPES = ["application/pdf"] as const;

/** Types of files that a message may hold. */
export type MediaType = ImageType | (typeof DOCUMENT_TYPES)[number];

/** A file that Interlock keeps. Its content is stored once per conversation, under its hash. */
export interface KeptFile {
  readonly kind: "kept";
  readonly hash: string;
  readonly mediaType: MediaType;
  readonly bytes: number;
  /** The run that keeps the content. No client names a hash or a keeper. */
  readonly keeper: RunId;
}

/** An image or a document of a message. */
export interface FilePart {
  readonly type: "image" | "file";
  readonly name?: string;
  /** An address is only passed on to the provider. Interlock never fetches it. */
  readonly source: KeptFile | { readonly kind: "address"; readonly url: string };
}

/** A part of a user message that holds a file. Two texts never follow each other. */
export type UserPart = { readonly type: "text"; readonly text: string } | FilePart;

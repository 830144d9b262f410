import { isJsonObject, type JsonObject } from "../../../protocol/json/value.ts";

/** A file that goes with a question: its name, and the part of a message that holds it. */
export interface AttachedFile {
  readonly name: string;
  readonly part: FilePart;
}

/** See docs/http.md, "Files". */
export type FilePart =
  | { readonly type: "image"; readonly image: string }
  | {
      readonly type: "file";
      readonly data: string;
      readonly mimeType: string;
      readonly filename: string;
    };

/** Which files the model of a chat takes. */
export interface TakenFiles {
  readonly images: boolean;
  readonly documents: boolean;
}

export const NO_FILES: TakenFiles = { images: false, documents: false };

/** Writes the content of a message. */
export function contentOf(
  text: string,
  files: readonly AttachedFile[] = [],
): string | readonly object[] {
  if (files.length === 0) return text;
  const words = text === "" ? [] : [{ type: "text", text }];
  return [...words, ...files.map(({ part }) => part)];
}

/** Reads files that the tab stored. Other scripts of the page can write there. */
export function readFiles(value: unknown): readonly AttachedFile[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isJsonObject).flatMap(({ name, part }) => {
    const read = isJsonObject(part) ? readPart(part) : undefined;
    return typeof name === "string" && read ? [{ name, part: read }] : [];
  });
}

function readPart({ type, image, data, mimeType, filename }: JsonObject): FilePart | undefined {
  if (type === "image" && typeof image === "string") return { type, image };
  const isFile = typeof data === "string" && typeof mimeType === "string";
  if (type !== "file" || !isFile || typeof filename !== "string") return undefined;
  return { type, data, mimeType, filename };
}

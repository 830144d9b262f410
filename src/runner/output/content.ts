import type { ImageKeeper } from "../../capabilities/files.ts";
import type { ContentPart, KeptContent } from "../../protocol/tool/content.ts";

/** Finds the images that the conversation keeps already, and the hash of every other one. */
export async function identifyImages(
  images: Pick<ImageKeeper, "identify">,
  content: readonly ContentPart[],
): Promise<readonly ContentPart[]> {
  const identify = async (part: ContentPart): Promise<ContentPart> => {
    if (part.type === "text" || part.source.kind === "kept") return part;
    return { type: "image", source: await images.identify(part.source) };
  };
  return Promise.all(content.map(identify));
}

const NO_ROOM: KeptContent = {
  type: "text",
  text: "[An image is left out, because the files of this conversation are too large together.]",
};

/** Keeps the images of content. An image without room in the conversation becomes a note. */
export function keepImages(
  images: Pick<ImageKeeper, "keep">,
  content: readonly ContentPart[],
): readonly KeptContent[] {
  return content.map((part): KeptContent => {
    if (part.type === "text") return part;
    const { source } = part;
    if (source.kind === "kept") return { type: "image", source };
    const kept = "hash" in source ? images.keep(source) : undefined;
    return kept ? { type: "image", source: kept } : NO_ROOM;
  });
}

/** Writes what tells one content from another. Contract: the images are identified. */
export function formatContent(content: readonly ContentPart[]): readonly string[] {
  return content.map((part) => {
    if (part.type === "text") return part.text;
    return "hash" in part.source ? part.source.hash : "";
  });
}

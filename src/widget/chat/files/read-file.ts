import { say } from "../../texts/say.ts";
import { fail, ok, type Result } from "../../../protocol/outcome/result.ts";
import type { AttachedFile, TakenFiles } from "./attached-file.ts";

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const PDF = "application/pdf";
/** A photo with more pixels on a side is made smaller: models see no more. */
const MAX_SIDE = 2048;
/** An image above it is made smaller. Unit: bytes. */
const MAX_IMAGE_BYTES = 1024 * 1024;

/** Returns the media types that a model takes. */
export function takenTypes({ images, documents }: TakenFiles): readonly string[] {
  return [...(images ? IMAGES : []), ...(documents ? [PDF] : [])];
}

/**
 * Reads a file for a message. A large photo is made smaller. Fails: why not, in words for the
 * reader.
 */
export async function readFile(
  file: File,
  takes: TakenFiles,
): Promise<Result<AttachedFile, string>> {
  const { name, type } = file;
  if (!takenTypes(takes).includes(type)) {
    return fail(
      say("{file} cannot be sent. Send {types}.", { file: name, types: describeTypes(takes) }),
    );
  }
  if (file.size === 0) return fail(say("{file} is empty.", { file: name }));
  try {
    if (type === PDF) {
      const data = toBase64(await readUrl(file));
      return ok({ name, part: { type: "file", data, mimeType: type, filename: name } });
    }
    return ok({ name, part: { type: "image", image: await readUrl(await shrink(file)) } });
  } catch {
    return fail(say("{file} cannot be read.", { file: name }));
  }
}

function describeTypes({ images, documents }: TakenFiles): string {
  const names = [...(images ? ["PNG", "JPEG", "GIF", "WebP"] : []), ...(documents ? ["PDF"] : [])];
  return names.length === 1
    ? `${names[0]}`
    : [names.slice(0, -1).join(", "), names.at(-1)].join(say(" or "));
}

/** Draws a large image smaller, as JPEG. An animation stays as it is. */
async function shrink(file: File): Promise<Blob> {
  if (file.size <= MAX_IMAGE_BYTES || file.type === "image/gif") return file;
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, MAX_SIDE / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(bitmap.width * scale);
  canvas.height = Math.round(bitmap.height * scale);
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  const drawn = await new Promise<Blob | null>((resolve) => {
    canvas.toBlob(resolve, "image/jpeg", 0.85);
  });
  return drawn && drawn.size < file.size ? drawn : file;
}

function readUrl(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => {
      // `readAsDataURL` gives a text.
      resolve(typeof reader.result === "string" ? reader.result : "");
    });
    reader.addEventListener("error", () => reject(new Error("unreadable")));
    reader.readAsDataURL(blob);
  });
}

function toBase64(url: string): string {
  return url.slice(url.indexOf(",") + 1);
}

/** Returns how many bytes the content of a file has. */
export function sizeOf({ part }: AttachedFile): number {
  const text = part.type === "image" ? toBase64(part.image) : part.data;
  return Math.floor((text.length * 3) / 4);
}

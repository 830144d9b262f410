/** The smallest files of each type that Interlock takes, in base64. */
export const PNG = btoa("\x89PNG\r\n\x1a\n and pixels");
export const JPEG = btoa("\xff\xd8\xff\xe0 and pixels");
export const GIF = btoa("GIF89a and pixels");
export const WEBP = btoa("RIFF1234WEBP and pixels");
export const PDF = btoa("%PDF-1.7 and pages");

export function dataUrl(type: string, base64: string): string {
  return `data:${type};base64,${base64}`;
}

/** A PNG of this many bytes. `mark` makes its content unique. */
export function largePng(bytes: number, mark: string): string {
  const head = `\x89PNG\r\n\x1a\n${mark}`;
  return btoa(head + ".".repeat(bytes - head.length));
}

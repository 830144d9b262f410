import type * as Markdown from "./markdown.ts";

/** What the renderer's own file exports. */
export type MarkdownRenderer = Pick<
  typeof Markdown,
  "createMarkdownView" | "drawInline" | "toPlainText"
>;

let loaded: MarkdownRenderer | undefined;
let loading: Promise<MarkdownRenderer | undefined> | undefined;

/** Returns the renderer once it is loaded. */
export function loadedMarkdown(): MarkdownRenderer | undefined {
  return loaded;
}

/**
 * Loads the renderer once, from beside this file. Undefined: it cannot be loaded, or a newer
 * version of the page has been deployed since. Texts then stay plain.
 */
export function loadMarkdown(): Promise<MarkdownRenderer | undefined> {
  return (loading ??= load());
}

async function load(): Promise<MarkdownRenderer | undefined> {
  try {
    const { edition, createMarkdownView, drawInline, toPlainText } = await import("./markdown.ts");
    if (edition === EDITION) loaded = { createMarkdownView, drawInline, toPlainText };
  } catch {
    // The next text tries again.
    loading = undefined;
  }
  return loaded;
}

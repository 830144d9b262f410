/** The files of the chat's element. Pages of other origins may load them. */
export const CHAT_FILES = [
  "/widget.js",
  "/widget-tools.js",
  "/widget-markdown.js",
  "/widget-highlight.js",
  "/widget-files.js",
  "/widget-de.js",
  "/embed.js",
  "/licenses.txt",
  "/page.css",
] as const;

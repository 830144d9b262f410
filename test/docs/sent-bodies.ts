import type { CodeBlock } from "./code-blocks.ts";

/** Bodies that only a route reads: the test of the commands sends them to a run. */
const BODIES: readonly { readonly file: string; readonly has: string; readonly path: string }[] = [
  { file: "docs/http.md", has: '{ "content":', path: "/messages" },
  { file: "docs/http.md", has: '{ "outcome":', path: "/invocations/inv_1/outcome" },
];

/** The path below a run to which a JSON block is sent; undefined for all other blocks. */
export function bodyOf({ file, language, text }: CodeBlock): string | undefined {
  if (language !== "json") return undefined;
  return BODIES.find((known) => known.file === file && text.startsWith(known.has))?.path;
}

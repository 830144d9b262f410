import { join } from "node:path";
import type { Plugin } from "esbuild";

const PARTS = join(import.meta.dirname, "../src/widget/markdown/parser-parts.ts");

/** Puts the page's own parts in place of the packages that markdown-it imports. */
export const markdownParts: Plugin = {
  name: "markdown-parts",
  setup: (build) =>
    build.onResolve({ filter: /^(?:entities|linkify-it|mdurl|punycode\.js|uc\.micro)$/ }, () => ({
      path: PARTS,
    })),
};

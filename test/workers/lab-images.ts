import * as v from "valibot";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import type { ToolContent } from "../../src/protocol/tool/content.ts";
import { beforeEachFile } from "../shared/fresh-state.ts";

/** What the tools below answer beside their data. A test may put in what no contract allows. */
export const gallery: { content: unknown } = { content: [] };
beforeEachFile(() => {
  gallery.content = [];
});

const shared = {
  version: "1.0.0",
  input: v.strictObject({ page: v.optional(v.number()) }),
  output: v.strictObject({ title: v.string() }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: ["page"], output: ["title"] },
  capabilities: [],
  security: { untrustedOutput: true },
  execute: () => ({ ...ok({ title: "A plan" }), content: gallery.content as ToolContent[] }),
} as const;

/** Tools that answer images and texts. */
export const LAB_IMAGES = [
  defineTool({
    ...shared,
    name: "lab__illustrate",
    description: "Shows a page as text and images.",
    content: { maxImages: 2, maxImageBytes: 1_000, maxTextBytes: 400 },
  }),
  defineTool({ ...shared, name: "lab__list_pages", description: "Shows the title of a page." }),
  defineTool({
    ...shared,
    name: "lab__photograph",
    description: "Takes pictures that fill a conversation.",
    content: { maxImages: 1, maxImageBytes: 3_145_728 },
  }),
] as const;

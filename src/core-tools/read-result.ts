import * as v from "valibot";
import { defineCoreTool } from "../contracts/define/core-tool.ts";
import type { ToolCallId } from "../protocol/identity/ids.ts";
import { fail, ok } from "../protocol/outcome/result.ts";
import { cutText } from "../protocol/text/whole-characters.ts";

/** Characters of one page. */
const PAGE_CHARS = 6_000;

const NOT_KEPT = {
  field: "/call",
  code: "not_kept",
  message: "expected the id of a call of this run whose result was cut",
};

/** Reads on in a result that was cut. */
export const readResult = defineCoreTool({
  name: "core__read_result",
  version: "1.0.0",
  description:
    "Reads on in the result of an earlier tool call that was cut. Use it only if a warning says " +
    "that the result was cut, and the missing part is needed. Give the id of that call, and the " +
    "offset of the next page.",
  input: v.strictObject({
    call: v.pipe(
      v.string(),
      v.minLength(1),
      v.maxLength(128),
      v.description("The id of the call."),
    ),
    offset: v.optional(
      v.pipe(
        v.number(),
        v.safeInteger(),
        v.minValue(0),
        v.description("Where the page begins: 0, or nextOffset of the page before."),
      ),
    ),
  }),
  output: v.strictObject({
    text: v.string(),
    nextOffset: v.nullable(v.number()),
    totalChars: v.number(),
  }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: ["call", "offset"], output: ["text", "nextOffset", "totalChars"] },
  capabilities: ["results"],
  allowedUseCases: ["A result was cut, and the answer needs what is missing."],
  forbiddenUseCases: ["Results of other runs, and results that are whole."],
  examples: [{ description: "The first page of a cut result.", arguments: { call: "call_1" } }],
  runtime: { timeoutMs: 5_000 },
  security: { dataClassification: "public" },
  errors: { not_kept: "SEMANTIC_INVALIDITY" },
  async execute({ call, offset = 0 }, _context, { results }) {
    const found = await results.read(call as ToolCallId);
    if (!found) return fail({ taxonomyClass: "SEMANTIC_INVALIDITY", errors: [NOT_KEPT] });
    const text = cutText(found.text.slice(offset), PAGE_CHARS);
    const next = offset + text.length;
    const totalChars = found.text.length;
    return ok({ text, nextOffset: next < totalChars ? next : null, totalChars });
  },
});

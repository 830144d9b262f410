import * as v from "valibot";
import { defineCoreTool } from "../contracts/define/core-tool.ts";
import { dropInvisible } from "../protocol/text/drop-invisible.ts";
import { fail, ok } from "../protocol/outcome/result.ts";

const NOTHING = { field: "/title", code: "not_visible", message: "expected text that can be seen" };

/** Gives the run its title. */
export const generateTitle = defineCoreTool({
  name: "core__generate_title",
  version: "1.0.0",
  description:
    "Sets a short title for this conversation. Use it at most once, when the topic is clear or the " +
    "user asks for a title. It changes nothing else.",
  input: v.strictObject({
    title: v.pipe(
      v.string(),
      v.regex(/\S/),
      v.maxLength(80),
      v.description("The title: at most 80 characters, no quotes, no full stop at the end."),
    ),
  }),
  output: v.strictObject({ title: v.string() }),
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["title"], output: ["title"] },
  capabilities: ["runTitle"],
  allowedUseCases: [
    "The topic of the conversation has become clear.",
    "The user asks for a title.",
  ],
  forbiddenUseCases: ["Titles of documents, or of anything but this conversation."],
  examples: [{ description: "A short topic.", arguments: { title: "A call with Tokyo" } }],
  runtime: { timeoutMs: 1000 },
  transactional: { semantics: "idempotent_write" },
  idempotency: { supported: true },
  describe: ({ title }) => ({
    action: "Name the conversation",
    consequence: `From now on this conversation is called “${title}”.`,
  }),
  execute({ title }, _context, { runTitle }) {
    // Lists of runs show it beside others', so it may neither mask, break nor turn a line.
    const visible = dropInvisible(title).replaceAll(/\s+/g, " ").trim();
    if (visible === "") return fail({ taxonomyClass: "SEMANTIC_INVALIDITY", errors: [NOTHING] });
    runTitle.set(visible);
    return ok({ title: visible });
  },
});

import * as v from "valibot";
import { defineCoreTool } from "../contracts/define/core-tool.ts";
import { fail, ok } from "../protocol/outcome/result.ts";

const answer = v.pipe(v.string(), v.minLength(1), v.maxLength(2_000));

/**
 * Lets a model ask the person for whom its run acts. The answer is the person's own word; the
 * question is not.
 */
export const askPerson = defineCoreTool({
  name: "core__ask_person",
  version: "1.0.0",
  title: "Ask the person",
  description:
    "Asks the person one question and waits for the answer, which may take a day. The person reads " +
    "the question and types the answer, or selects one of the choices.",
  input: v.strictObject({
    question: v.pipe(
      v.string(),
      v.minLength(1),
      v.maxLength(500),
      v.description("One question in plain words, with what the person needs to answer it."),
    ),
    choices: v.optional(
      v.pipe(
        v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(200))),
        v.minLength(2),
        v.maxLength(12),
        v.description("The only possible answers. Leave it out for a free text."),
      ),
    ),
    answer: v.optional(v.pipe(answer, v.description("Leave it out: the person gives it."))),
  }),
  output: v.strictObject({ answer: v.string() }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: ["question", "choices", "answer"], output: ["answer"] },
  capabilities: [],
  allowedUseCases: ["A fact or a choice that only the person knows, and that no tool can read."],
  forbiddenUseCases: ["Permission to make a call: the call itself asks for that."],
  security: { dataClassification: "internal" },
  errors: { no_answer: "SEMANTIC_INVALIDITY" },
  ask: {
    form: v.strictObject({ answer: v.pipe(answer, v.title("Your answer")) }),
    question: ({ question: text, choices }) => ({
      text,
      ...(choices && { choices: { answer: choices } }),
    }),
  },
  execute: ({ answer: given }) =>
    given === undefined
      ? fail({
          taxonomyClass: "SEMANTIC_INVALIDITY",
          errors: [{ field: "/answer", code: "no_answer", message: "nobody answered" }],
        })
      : ok({ answer: given }),
});

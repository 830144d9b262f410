import type { BoundAsk, BoundToolRuntime } from "../../capabilities/tool.ts";
import {
  fieldsOf,
  MAX_CHOICE_CHARS,
  MAX_CHOICES,
  withChoices,
  type Question,
} from "../../protocol/approval/question.ts";
import { isJsonObject, type JsonObject } from "../../protocol/json/value.ts";
import { maskValues, withheldValues } from "../../protocol/secrets/mask-values.ts";
import type { AcceptedArguments } from "../gates/subjects.ts";
import { readText } from "./describe-action.ts";

const MAX_QUESTION_CHARS = 1_000;

/** A call, and the state of its target that people see; null when it is not known. */
type AskedCall = Pick<AcceptedArguments, "args" | "shown"> & {
  readonly tool: BoundToolRuntime;
  readonly before: JsonObject | null;
};

/**
 * Reads what a contract asks about a call; undefined when it asks nothing.
 * Threat: the words are made of arguments that a model chose, so they are bounded; they may name an
 * argument that redaction withholds, so it is masked.
 * Contract: throws what the author's function throws, and for an answer that is no question: a call
 * must not run because its question failed.
 */
export function readQuestion({ tool, args, shown, before }: AskedCall): Question | undefined {
  const { ask } = tool;
  // An author who does not use TypeScript may return anything.
  const asked = ask?.question(args, before) ?? null;
  if (!ask || asked === null) return undefined;
  const { text, choices = {} } = asked as Readonly<Record<string, unknown>>;
  const mask = maskValues(withheldValues(args, shown));
  const words = readText(text, MAX_QUESTION_CHARS, mask);
  if (words === undefined) throw new TypeError("ask.question returned no text");
  return { text: words, schema: withChoices(ask.formSchema, readChoices(ask, choices)) };
}

function readChoices(
  { formSchema }: Pick<BoundAsk, "formSchema">,
  choices: unknown,
): Readonly<Record<string, readonly string[]>> {
  if (!isJsonObject(choices)) throw new TypeError("ask.question returned choices of no field");
  const texts = new Map(fieldsOf(formSchema));
  return Object.fromEntries(
    Object.entries(choices).map(([name, offered]) => {
      if (texts.get(name)?.["type"] !== "string" || !isChoices(offered)) {
        throw new TypeError(`ask.question returned choices that ${name} cannot take`);
      }
      return [name, offered];
    }),
  );
}

function isChoices(offered: unknown): offered is readonly string[] {
  return (
    Array.isArray(offered) &&
    offered.length > 0 &&
    offered.length <= MAX_CHOICES &&
    offered.every(
      (one) => typeof one === "string" && one.length <= MAX_CHOICE_CHARS && one.isWellFormed(),
    )
  );
}

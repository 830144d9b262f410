import type { JsonObject, JsonValue } from "../json/value.ts";
import { sentence } from "../text/field-label.ts";
import { fieldsOf, type Question } from "./question.ts";

/** What one line of a question shows: the question itself, a field of its form, or a choice. */
export interface QuestionText {
  /** `/field`, or `/field/2` for a choice; absent for the question. */
  readonly pointer?: string;
  readonly label: string;
  readonly text: string;
}

/**
 * Writes a question, the fields of its form and their choices. Contract: pure; the texts are not
 * safe to show yet.
 */
export function textsOfQuestion({ text: asked, schema }: Question): readonly QuestionText[] {
  const { required } = schema;
  const needed = Array.isArray(required) ? (required as readonly JsonValue[]) : [];
  const fields = fieldsOf(schema).flatMap(([name, field]) => {
    const { title, description } = field;
    const label = typeof title === "string" ? title : sentence(name) || name;
    const help = typeof description === "string" ? [description] : [];
    const optional = needed.includes(name) ? [] : ["optional"];
    const hint = [...help, describeKind(field), ...optional].filter(Boolean).join("; ");
    const choices = choicesOf(field).map((choice, at) => {
      const text = typeof choice === "string" ? choice : JSON.stringify(choice);
      return { pointer: `/${name}/${at}`, label, text };
    });
    return [{ pointer: `/${name}`, label, text: hint }].concat(choices);
  });
  return [{ label: "Question", text: asked }, ...fields];
}

/** Lists the values that a field takes; none for a field of free text or numbers. */
export function choicesOf({ type, enum: listed, const: only }: JsonObject): readonly JsonValue[] {
  if (Array.isArray(listed)) return listed as readonly JsonValue[];
  if (only !== undefined) return [only];
  return type === "boolean" ? [true, false] : [];
}

function describeKind(field: JsonObject): string {
  const { type, minimum, maximum, maxLength } = field;
  if (choicesOf(field).length > 0) return "";
  const what = type === "integer" ? "a whole number" : type === "number" ? "a number" : "a text";
  const least = typeof minimum === "number" ? ` from ${minimum}` : "";
  const most = typeof maximum === "number" ? ` up to ${maximum}` : "";
  const chars = typeof maxLength === "number" ? ` of up to ${maxLength} characters` : "";
  return `${what}${least}${most}${chars}`;
}

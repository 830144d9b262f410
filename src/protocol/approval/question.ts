import type { JsonObject, JsonValue } from "../json/value.ts";
import { isJsonObject } from "../json/value.ts";
import type { FieldError } from "../outcome/observation.ts";
import type { JsonSchema7 } from "../tool/spec.ts";

/**
 * What an approval request asks for, besides a vote for its call or in its place. Absent: that
 * vote.
 */
export const APPROVAL_ASKS = [
  /** An answer of the person for whom the run acts. */
  "answer",
  /** An answer, which is that person's vote as well. */
  "answer_and_vote",
  /** A vote for a higher limit of the run. It approves no call. */
  "raise",
] as const;
export type ApprovalAsks = (typeof APPROVAL_ASKS)[number];

/** Tells whether a request has a question, which an answer completes. */
export function asksAnswer(asks: ApprovalAsks | undefined): boolean {
  return asks === "answer" || asks === "answer_and_vote";
}

/** Tells whether a request approves a call, and so agrees to terms. */
export function asksApproval(asks: ApprovalAsks | undefined): boolean {
  return asks === undefined || asks === "answer_and_vote";
}

/** A question to the person for whom a run acts. */
export type Question = {
  /** Unchanged: code that shows it calls toVisible first. A model may have written it. */
  readonly text: string;
  /** Schema of the answer: a closed object of texts, numbers, booleans and listed values. */
  readonly schema: JsonSchema7;
};

/** Most choices of one field, and longest choice. Unit of the length: UTF-16 code units. */
export const MAX_CHOICES = 50;
export const MAX_CHOICE_CHARS = 200;

/** Lists the fields of a form with their schemas. */
export function fieldsOf({ properties }: JsonSchema7): readonly (readonly [string, JsonObject])[] {
  return Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, field]) =>
    isJsonObject(field) ? [[name, field] as const] : [],
  );
}

/**
 * Tells whether people can fill in a form: it has 1 to 16 fields, and each is a text, a number, a
 * boolean or one of a list.
 */
export function isForm(schema: JsonSchema7): boolean {
  const fields = fieldsOf(schema);
  return fields.length > 0 && fields.length <= 16 && fields.every(([, field]) => isScalar(field));
}

function isScalar({ type, enum: listed, const: only }: JsonObject): boolean {
  const values = Array.isArray(listed) ? (listed as readonly JsonValue[]) : [];
  if (values.length > 0 || only !== undefined) {
    return [...values, only ?? ""].every((value) => typeof value !== "object");
  }
  return type === "string" || type === "number" || type === "integer" || type === "boolean";
}

/** Gives the texts of a form the choices that one question offers. */
export function withChoices(
  schema: JsonSchema7,
  choices: Readonly<Record<string, readonly string[]>>,
): JsonSchema7 {
  const fields = fieldsOf(schema).map(([name, field]) => {
    const offered = Object.hasOwn(choices, name) ? choices[name] : undefined;
    return [name, offered ? { ...field, enum: offered } : field] as const;
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}

/** Lists the fields of an answer that are none of the choices which the question offered. */
export function findForeignChoices(
  { schema }: Pick<Question, "schema">,
  answer: JsonObject,
): readonly FieldError[] {
  return fieldsOf(schema).flatMap(([name, { enum: offered }]) => {
    const value = answer[name];
    if (!Array.isArray(offered) || value === undefined || offered.includes(value)) return [];
    const message = "expected one of the choices of the question";
    return [{ field: `/${name}`, code: "OUT_OF_BOUNDS", message }];
  });
}

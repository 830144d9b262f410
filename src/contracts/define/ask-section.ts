import type * as v from "valibot";
import type { JsonObject } from "../../protocol/json/value.ts";

/** Time to answer, where a contract says nothing else. */
export const ANSWER_SECONDS = 86_400;

/** What the person for whom a run acts is asked before a call (seeds/002, `ask`). */
export interface AskSection<Args> {
  /**
   * The answer: 1 to 16 texts, numbers, booleans and listed values. Each is a field of the input
   * that `redaction.args` shows. An answer replaces these fields of the arguments.
   */
  readonly form: FormSchema;
  /** Time to answer, up to 30 days. Default: a day. */
  readonly ttlSeconds?: number;
  /**
   * Words the question; null asks nothing. `before` is the state that `preview` read, with the
   * fields that `redaction.state` lists; null when there is none.
   * Contract: pure and synchronous. A throw ends the call.
   */
  question(args: Args, before: JsonObject | null): AskedQuestion | null;
}

/** A closed object schema, as `v.strictObject` makes one. */
export interface FormSchema extends v.GenericSchema<object, object> {
  readonly type: "strict_object";
  readonly entries: v.ObjectEntries;
}

/** One question. */
export interface AskedQuestion {
  /** 1 to 1000 characters. People see hidden characters in it. */
  readonly text: string;
  /** The only texts that a field of the form takes: 1 to 50, of up to 200 characters. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
}

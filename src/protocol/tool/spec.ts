import type { JsonValue } from "../json/value.ts";
import type { ToolId } from "../identity/ids.ts";
import type { SideEffectClass, ToolEffect } from "./effect.ts";
import type { ToolLifecycle } from "./lifecycle.ts";

/** A JSON Schema of draft 7, always derived from a contract's valibot schema, never written by hand. */
export type JsonSchema7 = { readonly [keyword: string]: JsonValue };

/** Paths that may leave the runner; everything else is stripped (seeds/000 #4). */
export interface Redaction {
  /** Fields of the arguments, as dotted paths; `*` stands for every array item. */
  readonly args: readonly string[];
  /** Fields of the output, as dotted paths; `*` stands for every array item. */
  readonly output: readonly string[];
  /** Fields of the states that `preview` tells, for people who are asked; without it there is no `preview`. */
  readonly state?: readonly string[];
}

/** What the model sees of a tool (seeds/000 #10), and what decides whether it sees it. */
export interface ToolSpec {
  readonly name: ToolId;
  readonly version: string;
  readonly description: string;
  readonly inputSchema: JsonSchema7;
  readonly effect: ToolEffect;
  readonly sideEffectClass: SideEffectClass;
  /** The contract itself asks for a person before each call. */
  readonly confirmationRequired: boolean;
  readonly lifecycle: ToolLifecycle;
  readonly redaction: Redaction;
}

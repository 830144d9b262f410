import type { JsonValue } from "../json/value.ts";
import type { DataClassification } from "./data-class.ts";
import type { ToolId } from "../identity/ids.ts";
import type { SideEffectClass, ToolEffect } from "./effect.ts";
import type { ToolLifecycle } from "./lifecycle.ts";

/** A JSON Schema of draft 7. It is always derived from a valibot schema, never written by hand. */
export type JsonSchema7 = { readonly [keyword: string]: JsonValue };

/** Fields that may leave the runner. Redaction removes every other field (seeds/000 #4). */
export interface Redaction {
  /** Fields of the arguments, as dotted paths; `*` means every array item. */
  readonly args: readonly string[];
  /** Fields of the output, as dotted paths; `*` means every array item. */
  readonly output: readonly string[];
  /**
   * Fields of the target's state that people may see. Present exactly with `preview` or
   * `verification`.
   */
  readonly state?: readonly string[];
  /** Fields of the details that people may see. Present exactly with `details`. */
  readonly details?: readonly string[];
}

/** What a model provider is told of a tool. */
export type ShownTool = Pick<ToolSpec, "name" | "description" | "inputSchema">;

/** What the model sees of a tool (seeds/000 #10), and what decides whether the model sees it. */
export interface ToolSpec {
  readonly name: ToolId;
  readonly version: string;
  /** Everything that a model reads of the tool beside its schema. */
  readonly description: string;
  /** Short name for people; absent: none. */
  readonly title?: string;
  readonly category?: string;
  readonly inputSchema: JsonSchema7;
  readonly effect: ToolEffect;
  readonly sideEffectClass: SideEffectClass;
  /** The contract itself requires an approval of each call. */
  readonly confirmationRequired: boolean;
  readonly lifecycle: ToolLifecycle;
  /** False: only people, an undo and a saga may call it. */
  readonly shownToModel: boolean;
  readonly redaction: Redaction;
  readonly requiredScopes: readonly string[];
  readonly requiresConnection: boolean;
  readonly dataClass: DataClassification;
  /** Names of the upstreams that it reaches, and hosts. */
  readonly destinations: readonly string[];
  /** The name of the workspace that its calls use; absent: none. */
  readonly workspace?: string;
  /** The tools of a saga's steps, in their order. */
  readonly steps?: readonly string[];
}

import * as v from "valibot";
import { MAX_TURNS } from "../conversation/turn.ts";
import { name, positive, wellFormedText } from "../policy/fields.ts";
import { checkTemplate } from "./template.ts";

/** Longest instructions. Unit: UTF-16 code units. */
const MAX_INSTRUCTIONS_CHARS = 32_768;

const pageText = v.pipe(wellFormedText(200), v.minLength(1));

/** How the model should answer. A model gets only what it can take. */
const settings = v.strictObject({
  /** How much the model reasons, in the provider's word. */
  effort: v.optional(v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,32}$/))),
  temperature: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(2))),
  /** The longest answer of one model call, within the limit of the policy. */
  maxOutputTokens: v.optional(v.pipe(positive, v.maxValue(1_000_000))),
  /** A forced choice holds until a run has its first tool call. Later it would never end. */
  toolChoice: v.optional(
    v.union(
      [v.picklist(["auto", "none", "required"]), v.strictObject({ tool: name })],
      'auto, none, required or {"tool": "<id>"}',
    ),
  ),
});

const turns = v.pipe(positive, v.maxValue(MAX_TURNS));

const modelId = v.pipe(wellFormedText(256), v.minLength(1));

/** What the model is shown of earlier turns, within the limit of the policy. */
const history = v.strictObject({
  /** The newest turns, of which results are not shortened. */
  wholeTurns: v.optional(turns),
  /** Most turns. */
  maxTurns: v.optional(turns),
  /** Who summarises the turns that do not fit. Absent: they are left out. */
  summary: v.optional(v.strictObject({ model: modelId })),
});

/** Accepts what `PUT /v1/assistants/:id` takes. See docs/assistants.md. */
export const assistantDocument = v.strictObject({
  /** A template, see template.ts. Empty: the model gets no instructions. */
  instructions: v.optional(
    v.pipe(wellFormedText(MAX_INSTRUCTIONS_CHARS), v.check(...checkTemplate)),
    "",
  ),
  /** Absent: requests choose among the models of the deployment. */
  model: v.optional(modelId),
  settings: v.optional(settings, {}),
  /** The only tools of the assistant, within policy. Absent: every tool that policy allows. */
  toolIds: v.optional(v.pipe(v.array(name), v.maxLength(128))),
  /** Absent: every turn whole. */
  history: v.optional(history),
  /** What a page shows above an empty conversation. */
  heading: v.optional(pageText),
  /** Questions that a page offers. */
  suggestions: v.optional(v.pipe(v.array(pageText), v.maxLength(8)), []),
});

/** How an assistant behaves, as data of its tenant. */
export type AssistantDocument = v.InferOutput<typeof assistantDocument>;

/** The same as an author or a client writes it: what has a default may be left out. */
export type AssistantInput = v.InferInput<typeof assistantDocument>;

export type HistoryRule = NonNullable<AssistantDocument["history"]>;

export type AssistantSettings = AssistantDocument["settings"];

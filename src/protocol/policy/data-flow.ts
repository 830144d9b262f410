import * as v from "valibot";
import type { Leaf } from "../json/pointer.ts";
import { valuesAt } from "../json/pointer.ts";
import { isJsonArray, type JsonObject, type JsonValue } from "../json/value.ts";
import type { Sources } from "../label/source.ts";
import { standsIn } from "../text/whole-word.ts";
import { SIDE_EFFECT_CLASSES, TOOL_EFFECTS } from "../tool/effect.ts";
import type { SideEffectClass, ToolEffect } from "../tool/effect.ts";
import { argumentField } from "./argument-rule.ts";
import { listOf, name } from "./fields.ts";

/** What happens to a call that the model proposed after it was shown untrusted output. */
const afterUntrustedRule = v.strictObject({
  /** Each that is absent fits every tool. */
  tools: v.optional(listOf(name)),
  classes: v.optional(listOf(v.picklist(SIDE_EFFECT_CLASSES))),
  /** A read that discloses its arguments counts as an external effect too. */
  effects: v.optional(listOf(v.picklist(TOOL_EFFECTS))),
  decision: v.picklist(["allow", "ask", "refuse"]),
});

const resultField = v.strictObject({ tool: name, field: argumentField });

/** Where the value of an argument has to come from. Any predicate of `must` suffices. */
const originRule = v.strictObject({
  tool: name,
  /** JSON pointer into the arguments; `*` means every item of a list. */
  field: argumentField,
  must: v.pipe(
    v.strictObject({
      beFromResult: v.optional(resultField),
      beFromPerson: v.optional(v.literal(true)),
    }),
    v.check((must) => Object.keys(must).length > 0, "at least one predicate"),
  ),
  otherwise: v.optional(v.picklist(["ask", "refuse"]), "ask"),
});

/** `tool` runs only after another tool succeeded in the same run. */
const orderRule = v.strictObject({ tool: name, after: v.strictObject({ tool: name }) });

/** Accepts the rules of a policy about where the content of a call comes from. */
export const dataFlowRules = v.strictObject({
  /** The first rule that fits a tool counts. Without one the default decides. */
  afterUntrusted: v.optional(listOf(afterUntrustedRule), []),
  arguments: v.optional(listOf(originRule), []),
  order: v.optional(listOf(orderRule), []),
});

export type DataFlowRules = v.InferOutput<typeof dataFlowRules>;
export type OriginRule = DataFlowRules["arguments"][number];

/** What the rules read of a tool. */
export interface FlowTool {
  readonly id: string;
  readonly effect: ToolEffect;
  readonly sideEffectClass: SideEffectClass;
  /** It sends text of its arguments to a service. */
  readonly discloses: boolean;
  readonly compensation: { readonly tool: string | null };
  /** Present in a saga, whose steps are decided on their own. */
  readonly saga?: unknown;
}

/** What a call returned. */
export interface EarlierResult {
  /** As shown. */
  readonly data: JsonObject;
  /** It holds rows that were written after text of others. */
  readonly hasRowsOfOthers: boolean;
}

/** What a run knows of the origin of a call. It is fixed when the call is proposed. */
export interface FlowEvidence {
  readonly after: Sources;
  /** The caller wrote the arguments. */
  readonly isPersons: boolean;
  /** Lists the successful calls of a tool that ended before the call was proposed. */
  resultsOf(toolId: string): readonly EarlierResult[];
  /** Lists what the person wrote in the conversation, and answered in the run. */
  words(): readonly string[];
  /** The fields of the arguments that the person answered before this call. */
  readonly answer: JsonObject;
  /** Lists the arguments, as shown, of the writes that were completed before. */
  used(): readonly JsonObject[];
  /** An approver changed the arguments since they were proposed. */
  readonly isEdited: boolean;
  /** The validated arguments as they were proposed; undefined when they cannot be read any more. */
  proposed(): JsonObject | undefined;
}

/** What the rules say of a call. */
export type FlowDecision =
  | { readonly kind: "pass"; readonly asks: readonly string[] }
  | { readonly kind: "refuse"; readonly refusal: FlowRefusal };

export type FlowRefusal =
  | { readonly code: "after_untrusted" }
  | { readonly code: "argument_origin"; readonly rule: OriginRule }
  | { readonly code: "call_order"; readonly tool: string };

/** The reason to ask that no field of the arguments has. */
const AFTER_UNTRUSTED = "after_untrusted";

/**
 * Decides about one call by what the model had read before it. `asks` lists why people are asked:
 * `after_untrusted`, and the fields whose origin nothing vouches for.
 * Threat: text of others steers a call that has consequences. Only positive matches vouch, because
 * a paraphrase escapes every search for bad values.
 * Contract: pure and total; never throws.
 */
export function decideFlow(
  rules: DataFlowRules,
  { tool, args }: { readonly tool: FlowTool; readonly args: JsonObject },
  evidence: FlowEvidence,
): FlowDecision {
  const early = rules.order.find(
    (rule) => rule.tool === tool.id && evidence.resultsOf(rule.after.tool).length === 0,
  );
  if (early) return refuse({ code: "call_order", tool: early.after.tool });
  const origins = rules.arguments
    .filter((rule) => rule.tool === tool.id)
    .map((rule) => checkOrigin(rule, args, evidence));
  const broken = origins.filter(({ unvouched }) => unvouched > 0);
  const refused = broken.find(({ rule }) => rule.otherwise === "refuse");
  if (refused) return refuse({ code: "argument_origin", rule: refused.rule });
  const asks = broken.map(({ rule }) => rule.field);
  const isVouched = broken.length === 0 && origins.some(({ vouched }) => vouched > 0);
  if (evidence.after.length === 0 || isVouched) return { kind: "pass", asks };
  const decision = decideAfterUntrusted(rules, tool);
  if (decision === "refuse") return refuse({ code: AFTER_UNTRUSTED });
  return { kind: "pass", asks: decision === "ask" ? [AFTER_UNTRUSTED, ...asks] : asks };
}

function refuse(refusal: FlowRefusal): FlowDecision {
  return { kind: "refuse", refusal };
}

function decideAfterUntrusted(
  { afterUntrusted }: DataFlowRules,
  tool: FlowTool,
): "allow" | "ask" | "refuse" {
  const { id, effect, sideEffectClass, discloses } = tool;
  const rule = afterUntrusted.find(
    ({ tools, classes, effects }) =>
      (tools?.includes(id) ?? true) &&
      (classes?.includes(sideEffectClass) ?? true) &&
      (!effects || effects.includes(effect) || (discloses && effects.includes(LEAVES))),
  );
  return rule?.decision ?? (isConsequential(tool) ? "ask" : "allow");
}

const LEAVES = "external_side_effect";

/**
 * Tells whether a call leaves the deployment or has no way back. Without a rule of the policy,
 * such a call asks after untrusted output.
 */
function isConsequential(tool: FlowTool): boolean {
  const { effect, sideEffectClass, discloses, compensation, saga } = tool;
  if (effect === LEAVES || discloses) return true;
  const lasts = effect !== "read_only" && sideEffectClass !== "EPHEMERAL_WRITE";
  return lasts && compensation.tool === null && saga === undefined;
}

/** Most values of one rule that are looked up. More than these are not vouched for. */
const MAX_VALUES = 100;

/** How many values of an argument something vouches for, and how many not. */
interface CheckedOrigin {
  readonly rule: OriginRule;
  readonly unvouched: number;
  readonly vouched: number;
}

/** Holds a rule against the arguments. A value that is absent, or null, breaks none. */
function checkOrigin(rule: OriginRule, args: JsonObject, evidence: FlowEvidence): CheckedOrigin {
  const { field, must } = rule;
  const leaves = [...itemsAt(args, field)].filter(({ value }) => value !== null);
  if (leaves.length > MAX_VALUES) return { rule, unvouched: 1, vouched: 0 };
  const returned = returnedValues(must.beFromResult, evidence);
  const said = must.beFromPerson && leaves.length > 0 ? readSaid(evidence) : undefined;
  const unvouched = leaves.filter(
    ({ pointer, value }) =>
      !isScalar(value) ||
      !(returned.has(value) || (said && isFromPerson({ pointer, value }, said))),
  );
  return { rule, unvouched: unvouched.length, vouched: leaves.length - unvouched.length };
}

/**
 * Threat: text of others has a model add a contact, and then write to the contact that the address
 * book names.
 */
function returnedValues(
  from: OriginRule["must"]["beFromResult"],
  evidence: FlowEvidence,
): ReadonlySet<JsonValue> {
  const values = new Set<JsonValue>();
  if (!from) return values;
  for (const { data, hasRowsOfOthers } of evidence.resultsOf(from.tool)) {
    if (hasRowsOfOthers) continue;
    for (const { value } of valuesAt(data, from.field)) values.add(value);
  }
  return values;
}

/** A field that is a list means its items. */
function* itemsAt(args: JsonObject, field: string): Generator<Leaf> {
  for (const { pointer, value } of valuesAt(args, field)) {
    if (!isJsonArray(value)) yield { pointer, value };
    else
      for (const [at, item] of value.entries()) yield { pointer: `${pointer}/${at}`, value: item };
  }
}

function isScalar(value: JsonValue): boolean {
  return typeof value !== "object";
}

/** What the person said of a call; it is read once for all values. */
interface Said {
  readonly isPersons: boolean;
  readonly words: readonly string[];
  readonly proposed: JsonObject | undefined;
  readonly answer: JsonObject;
}

function readSaid(evidence: FlowEvidence): Said {
  const { isPersons, answer } = evidence;
  return { isPersons, words: evidence.words(), proposed: evidence.proposed(), answer };
}

/** Tells whether the person wrote a value: in a message, an answer, the call itself or an edit. */
function isFromPerson({ pointer, value }: Leaf, said: Said): boolean {
  const { isPersons, words, proposed, answer } = said;
  if (isPersons) return true;
  if (proposed) {
    const [before] = valuesAt(proposed, pointer);
    if (before?.value !== value) return true;
  }
  const [answered] = valuesAt(answer, pointer);
  return answered?.value === value || standsIn(value, words);
}

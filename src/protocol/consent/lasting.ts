import * as v from "valibot";
import type { SideEffectClass } from "../tool/effect.ts";

/** Longest time that a consent may last: 30 days. */
const MAX_SECONDS = 2_592_000;
/** Most calls that one consent may answer. */
const MAX_CALLS = 1_000;

/** How far a consent reaches: one conversation, or all of the person with one assistant. */
export const CONSENT_REACHES = ["conversation", "assistant"] as const;
export type ConsentReach = (typeof CONSENT_REACHES)[number];

const argumentField = v.pipe(
  v.string(),
  v.maxLength(512),
  v.regex(/^(?:\/(?:[^/~]|~[01]){1,128}){1,16}$/, 'a JSON pointer, such as "/to/*"'),
);

/** Accepts what a rule of pattern `user_consent` offers the person beyond one call. */
export const lastingRule = v.strictObject({
  within: v.optional(v.picklist(CONSENT_REACHES), "conversation"),
  maxCalls: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_CALLS)),
  maxSeconds: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_SECONDS)),
  /** Arguments that must be the same in each call. Absent: all of them. */
  sameFields: v.exactOptional(v.pipe(v.array(argumentField), v.maxLength(16))),
});

/** How long a consent may last, for how many calls, and what must stay the same. */
export type LastingOffer = Readonly<v.InferOutput<typeof lastingRule>>;

/** What a person chose of an offer. */
export interface LastingChoice {
  readonly within: ConsentReach;
  /** Calls that the consent answers after the approved one. */
  readonly calls: number;
  /** Unit: Unix milliseconds. */
  readonly untilMs: number;
  /** Arguments that must be the same; absent: all of them. */
  readonly sameFields?: readonly string[];
}

/** What a person asks for; what is left out is as much as policy offers, in this conversation. */
export interface LastingWish {
  readonly within?: ConsentReach | undefined;
  readonly calls?: number | undefined;
  /** Unit: Unix milliseconds. */
  readonly untilMs?: number | undefined;
  /** All arguments must be the same, whatever policy offers. */
  readonly sameArguments?: true | undefined;
}

/**
 * Classes whose calls a consent may answer without a further question.
 * Threat: one click lets a model act in the world, or destroy, until Friday.
 */
const LASTING_CLASSES: ReadonlySet<SideEffectClass> = new Set([
  "READ_ONLY",
  "EPHEMERAL_WRITE",
  "LOW_RISK_INTERNAL",
  "MEDIUM_RISK_WRITE",
] satisfies SideEffectClass[]);

/** Tells whether consent to a call of this class may last. */
export function mayLast(sideEffectClass: SideEffectClass): boolean {
  return LASTING_CLASSES.has(sideEffectClass);
}

/** Tells whether an offer allows nothing that another one does not. Contract: pure. */
export function isWithinOffer(
  one: LastingOffer | undefined,
  other: LastingOffer | undefined,
): boolean {
  if (!one) return true;
  if (!other) return false;
  return (
    (one.within === "conversation" || other.within === "assistant") &&
    one.maxCalls <= other.maxCalls &&
    one.maxSeconds <= other.maxSeconds &&
    (one.sameFields === undefined || isListed(other.sameFields, one.sameFields))
  );
}

function isListed(some: readonly string[] | undefined, all: readonly string[]): boolean {
  return some?.every((field) => all.includes(field)) ?? false;
}

/**
 * Reads what a person's wish comes to under an offer; undefined when the offer does not cover it.
 * Contract: pure.
 */
export function chooseLasting(
  wish: LastingWish,
  offer: LastingOffer | undefined,
  nowMs: number,
): LastingChoice | undefined {
  if (!offer) return undefined;
  const latestMs = nowMs + offer.maxSeconds * 1_000;
  const { within = "conversation", calls = offer.maxCalls, untilMs = latestMs } = wish;
  const isCovered =
    (within === "conversation" || offer.within === "assistant") &&
    calls <= offer.maxCalls &&
    untilMs <= latestMs &&
    untilMs > nowMs;
  const sameFields = wish.sameArguments ? undefined : offer.sameFields;
  return isCovered ? { within, calls, untilMs, ...(sameFields && { sameFields }) } : undefined;
}

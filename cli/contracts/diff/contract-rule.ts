import { isDeepStrictEqual } from "node:util";
import type { PublishedContract } from "../../../src/contracts/catalog/published-contract.ts";
import { isJsonObject, type JsonValue } from "../../../src/protocol/json/value.ts";
import type { Difference, Verdict } from "./contract-change.ts";

/** The two compared contracts. */
export interface ContractPair {
  readonly locked: PublishedContract;
  readonly current: PublishedContract;
}

/**
 * Judges one changed field. Contract: pure; returns at least one change, so that none is missed.
 */
export type ContractRule = (difference: Difference, pair: ContractPair) => readonly Verdict[];

const compatible = (what: string): readonly Verdict[] => [{ kind: "compatible", what }];
const breaking = (what: string): readonly Verdict[] => [{ kind: "breaking", what }];

/** Text for people. No program depends on it. */
export const wording =
  (what: string): ContractRule =>
  () =>
    compatible(what);

/** A value that users of the contract rely on. */
export const fixed =
  (what: string): ContractRule =>
  () =>
    breaking(what);

/** A number that may grow. */
export const atLeast =
  (less: string, more: string): ContractRule =>
  ({ before, after }) =>
    typeof before === "number" && typeof after === "number" && after > before
      ? compatible(more)
      : breaking(less);

/** A number that may shrink. */
export const atMost =
  (more: string, less: string): ContractRule =>
  ({ before, after }) =>
    typeof before === "number" && typeof after === "number" && after < before
      ? compatible(less)
      : breaking(more);

/** A value that may become one other. */
export const mayBecome =
  (value: JsonValue, good: string, bad: string): ContractRule =>
  ({ after }) =>
    after === value ? compatible(good) : breaking(bad);

/** A value that may take the named steps. */
export const maySteps =
  (
    steps: readonly (readonly [from: JsonValue, to: JsonValue])[],
    good: string,
    bad: string,
  ): ContractRule =>
  ({ before, after }) =>
    steps.some(([from, to]) => before === from && after === to) ? compatible(good) : breaking(bad);

/** Rules for a list that is a set: its order has no meaning. */
export interface MemberRules {
  readonly added: Verdict | ((item: JsonValue, pair: ContractPair) => Verdict);
  readonly removed: Verdict;
}

/** Judges every new and every removed member. */
export const members =
  ({ added, removed }: MemberRules): ContractRule =>
  ({ before, after }, pair) => {
    const old = listOf(before);
    const current = listOf(after);
    if (!old || !current) return breaking("is no longer a list");
    const judgeAdded = typeof added === "function" ? added : (): Verdict => added;
    const verdicts = [
      ...without(current, old).map((item) => named(judgeAdded(item, pair), item)),
      ...without(old, current).map((item) => named(removed, item)),
    ];
    return verdicts.length > 0 ? verdicts : compatible("order of the list");
  };

function listOf(value: JsonValue | undefined): readonly JsonValue[] | undefined {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : undefined;
}

function without(list: readonly JsonValue[], others: readonly JsonValue[]): readonly JsonValue[] {
  return list.filter((item) => !others.some((other) => isDeepStrictEqual(item, other)));
}

/** Judges a table of codes. New rows are compatible; changed and removed rows break. */
export const entries =
  (added: string, removed: string, changed: string): ContractRule =>
  ({ before, after }) => {
    if (!isJsonObject(before) || !isJsonObject(after)) return breaking("is no longer a table");
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key): readonly Verdict[] => {
      if (!Object.hasOwn(before, key)) return [named({ kind: "compatible", what: added }, key)];
      if (!Object.hasOwn(after, key)) return [named({ kind: "breaking", what: removed }, key)];
      return isDeepStrictEqual(before[key], after[key])
        ? []
        : [named({ kind: "breaking", what: changed }, key)];
    });
  };

/** Adds the member's name to the text of its verdict. */
function named({ kind, what }: Verdict, member: JsonValue): Verdict {
  return { kind, what: `${what} ${JSON.stringify(member)}` };
}

import { memberOf, toPointer } from "../../protocol/json/pointer.ts";
import { isJsonArray, isJsonObject } from "../../protocol/json/value.ts";
import type { JsonObject, JsonValue } from "../../protocol/json/value.ts";
import type { ReplayDifference } from "../../protocol/run/replay.ts";

/** Parts of a decision that may hold what somebody said, arguments or data, in keys too. */
const CONTENT: ReadonlySet<string> = new Set([
  "said",
  "started",
  "returned",
  "data",
  "message",
  "warnings",
]);

/** Members of a decision whose values are codes, numbers or flags of ours. Others are not shown. */
const FACTS: ReadonlySet<string> = new Set([
  "approved",
  "continued",
  "fail_closed",
  "finish",
  "idempotency_hit",
  "inputTokens",
  "is_error",
  "isVerified",
  "outputTokens",
  "reason",
  "repairable",
  "requires_approval",
  "retryable",
  "taxonomy_class",
  "waits",
]);

type Path = readonly string[];

/**
 * Finds the first place at which the decisions of a run and those of its replay differ, in the
 * order of the steps. Contract: pure; undefined exactly when they are equal.
 */
export function findDifference(
  recorded: JsonValue,
  replayed: JsonValue,
): ReplayDifference | undefined {
  const path = differAt(recorded, replayed, []);
  if (!path) return undefined;
  const [ofRun, ofReplay] = [factAt(recorded, path), factAt(replayed, path)];
  return {
    pointer: toPointer(path),
    ...placeOf([recorded, replayed], path),
    ...(ofRun !== undefined && { recorded: ofRun }),
    ...(ofReplay !== undefined && { replayed: ofReplay }),
  };
}

/** Ends at the first content, so that the path holds no key of it. */
function differAt(
  one: JsonValue | undefined,
  other: JsonValue | undefined,
  path: Path,
): Path | undefined {
  if (!isTree(one) || !isTree(other) || isJsonArray(one) !== isJsonArray(other)) {
    return Object.is(one, other) ? undefined : path;
  }
  for (const key of keysOf(one, other)) {
    const found = differAt(memberOf(one, key), memberOf(other, key), [...path, key]);
    if (found) return CONTENT.has(key) ? [...path, key] : found;
  }
  return undefined;
}

type Tree = JsonObject | readonly JsonValue[];

function isTree(value: JsonValue | undefined): value is Tree {
  return isJsonArray(value) || isJsonObject(value);
}

/** Steps come before how the run ended: the first cause is named. */
function keysOf(one: Tree, other: Tree): readonly string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].toSorted((a, b) => Number(b === "steps") - Number(a === "steps"));
}

function valueAt(whole: JsonValue, path: Path): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(memberOf, whole);
}

/** Reads a value that every reader of the audit log may see. */
function factAt(whole: JsonValue, path: Path): ReplayDifference["recorded"] {
  const value = valueAt(whole, path);
  return isTree(value) || !FACTS.has(path.at(-1) ?? "") ? undefined : value;
}

/** Names the step and the call that a path leads through. */
function placeOf(
  wholes: readonly JsonValue[],
  path: Path,
): Pick<ReplayDifference, "step" | "toolCallId"> {
  const named = (length: number, name: string): JsonValue | undefined =>
    wholes
      .map((whole) => valueAt(whole, [...path.slice(0, length), name]))
      .find((found) => found !== undefined);
  const step = path[0] === "steps" ? named(2, "step") : undefined;
  const toolCallId = path[2] === "calls" ? named(4, "toolCallId") : undefined;
  return {
    ...(typeof step === "number" && { step }),
    ...(typeof toolCallId === "string" && { toolCallId }),
  };
}

import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";
import type { DryRunCall, PolicyDecision } from "../../protocol/policy/dry-run.ts";
import { GATE_WORDS } from "../../protocol/run/words.ts";
import { say, sayWords } from "../texts/say.ts";
import { formatCalls } from "./labels.ts";
import { listOf } from "./list-of.ts";

/** The current policy of a tenant. */
export interface CurrentPolicy {
  readonly revision: number;
  readonly document: JsonObject;
}

/** What another policy would have decided about the last calls. */
export interface PolicyTrial {
  readonly runs: number;
  readonly calls: number;
  readonly undecided: number;
  readonly changed: readonly DryRunCall[];
}

/** Reads the answer of `GET /v1/policy`; undefined when it has another shape. */
export function readPolicy({ revision, policy }: JsonObject): CurrentPolicy | undefined {
  const isKnown = typeof revision === "number" && isJsonObject(policy);
  return isKnown ? { revision, document: policy } : undefined;
}

/** Reads the answer of `POST /v1/policy/dry-run`, likewise. */
export function readTrial({
  runs,
  calls,
  undecided,
  changed,
}: JsonObject): PolicyTrial | undefined {
  const others: readonly unknown[] = listOf(changed);
  if (typeof runs !== "number" || typeof calls !== "number") return undefined;
  if (typeof undecided !== "number" || !others.every(isCall)) return undefined;
  return { runs, calls, undecided, changed: others };
}

function isCall(value: unknown): value is DryRunCall {
  if (!isJsonObject(value)) return false;
  const { from, to, ...facts } = value;
  const names = ["runId", "invocationId", "toolId", "toolVersion", "askedAt"];
  return names.every((name) => typeof facts[name] === "string") && [from, to].every(isDecision);
}

function isDecision(value: JsonValue | undefined): boolean {
  if (!isJsonObject(value)) return false;
  const { decision, gate, code, patterns, rules } = value;
  const isTexts = (list: JsonValue | undefined): boolean =>
    Array.isArray(list) && list.every((one) => typeof one === "string");
  if (decision === "allowed") return true;
  if (!isTexts(rules)) return false;
  if (decision === "asks_people") return isTexts(patterns);
  return decision === "refused" && typeof gate === "string" && typeof code === "string";
}

/** Says what a trial came to. */
export function formatTrial({ runs, calls, undecided, changed }: PolicyTrial): string {
  const of = runs === 1 ? say("1 run") : say("{count} runs", { count: runs });
  const differing = changed.length === 0 ? say("none") : formatCalls(changed.length);
  const told = say("{calls} of {runs} decided again. Other decisions: {differing}.", {
    calls: formatCalls(calls),
    runs: of,
    differing,
  });
  if (undecided === 0) return told;
  const left = { calls: formatCalls(undecided) };
  return `${told} ${say("Left out: {calls} whose tool is gone or has other arguments.", left)}`;
}

/** Says what a policy decides about a call, and why. */
export function formatDecision(decided: PolicyDecision): string {
  switch (decided.decision) {
    case "allowed":
      return say("allowed");
    case "asks_people": {
      const { patterns, rules } = decided;
      const why = rules.length > 0 ? by(rules) : say(", because the contract of the tool asks");
      return `${say("asks people: {patterns}", { patterns: patterns.join(say(" and ")) })}${why}`;
    }
    case "refused": {
      const { gate, code, rules } = decided;
      const words = GATE_WORDS.get(gate);
      const why =
        words === undefined ? say("the gate {gate} refuses it", { gate }) : sayWords(words);
      return `${say("refused, because {why} ({code})", { why, code })}${by(rules)}`;
    }
  }
}

function by(rules: readonly string[]): string {
  return rules.length > 0 ? say(", by {rules}", { rules: rules.join(say(" and ")) }) : "";
}

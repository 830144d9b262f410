import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import { hashOf, hashText } from "../../protocol/json/canonical-hash.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { parseArguments as parseText } from "../../protocol/tool/call.ts";
import { checkArguments } from "./check-arguments.ts";
import { checkRules } from "./check-rules.ts";
import { passAll, type Gate, type GateTrail } from "./gate.ts";
import { parseArguments } from "./parse-arguments.ts";
import type { AcceptedArguments, ArgumentsSubject, ArgumentText } from "./subjects.ts";

/** Arguments that do not fit the contract. */
export interface RefusedArguments {
  readonly failure: ToolFailure;
  /** Equal for equal arguments. */
  readonly digest: string;
}

const GATES: readonly Gate<ArgumentsSubject>[] = [parseArguments, checkArguments, checkRules];

/**
 * Group: reads the argument text of a call and checks it against the contract.
 * Contract: throws what a schema, a rule or a redaction of an author throws.
 * Fails: SYNTACTIC_PARSE_FAIL, STRUCTURAL_VIOLATION, TYPE_MISMATCH, OUT_OF_BOUNDS,
 * SEMANTIC_INVALIDITY.
 */
export async function readArguments(
  tool: BoundToolRuntime,
  call: ArgumentText,
  trail: GateTrail,
): Promise<Result<AcceptedArguments, RefusedArguments>> {
  const read = await passAll(GATES, { tool, call, args: {} }, { ports: undefined, trail });
  if (!read.ok) {
    return fail({ failure: read.failure, digest: await digestRefused(call, trail) });
  }
  const { args } = read.value;
  return ok({ args, shown: tool.redactArgs(args), payloadHash: await hashOf(args) });
}

/** Arguments that parse have one digest, whatever their spaces and the order of their keys. */
function digestRefused(call: ArgumentText, trail: GateTrail): Promise<string> {
  const parsed = trail.hasPassed(parseArguments.name) ? parseText(call) : undefined;
  return parsed?.ok ? hashOf(parsed.value) : digestText(call);
}

/** Hashes arguments that are not parsed. */
export function digestText({
  argumentsText,
}: Pick<ArgumentText, "argumentsText">): Promise<string> {
  return hashText(argumentsText.trim());
}

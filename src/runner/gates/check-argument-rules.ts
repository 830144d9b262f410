import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import { findBrokenRule, type BrokenRule } from "../../protocol/policy/argument-rule.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";

/** Gate 7: holds the arguments against the policy's rules. Fails: POLICY_VIOLATION. */
export function checkArgumentRules(
  policy: ToolPolicy,
  tool: BoundToolRuntime,
  args: JsonObject,
): Result<null, ToolFailure> {
  const broken = findBrokenRule(policy.argumentRules, tool.id, args);
  if (!broken) return ok(null);
  const { field, predicate, limit } = broken;
  const bound = limit === undefined ? "" : ` ${limit}`;
  const message = `policy wants this ${DEMANDS[predicate]}${bound}`;
  return fail({
    taxonomyClass: "POLICY_VIOLATION",
    errors: [{ field, code: "argument_rule", message }],
  });
}

/** What the model is told of a rule: which kind of value would pass, never the values themselves. */
const DEMANDS: { readonly [P in BrokenRule["predicate"]]: string } = {
  equal: "to be one certain value",
  beOneOf: "to be one of certain values",
  notBeOneOf: "to be another value",
  beAtLeast: "to be a number of at least",
  beAtMost: "to be a number of at most",
  haveLengthAtMost: "to have a length of at most",
  startWithOneOf: "to begin in a certain way",
  endWithOneOf: "to end in a certain way",
  haveHostIn: "to be an address of certain hosts",
  beAbsent: "to be left out",
};

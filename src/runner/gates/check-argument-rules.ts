import { findBrokenRule, type BrokenRule } from "../../protocol/policy/argument-rule.ts";
import { fromPointer } from "../../protocol/json/pointer.ts";
import { failField } from "../../protocol/outcome/failures.ts";
import { PASSED, type Gate } from "./gate.ts";
import type { PolicySubject } from "./subjects.ts";

/**
 * The gate `argument_rules`: checks the arguments against the policy's rules. Fails:
 * POLICY_VIOLATION.
 */
export const checkArgumentRules: Gate<PolicySubject> = {
  name: "argument_rules",
  check({ terms, tool, args, unanswered = [] }) {
    const { argumentRules } = terms.policy;
    const rules =
      unanswered.length === 0
        ? argumentRules
        : argumentRules.filter(({ field }) => !unanswered.includes(fromPointer(field)[0] ?? ""));
    const broken = findBrokenRule(rules, tool.id, args);
    if (!broken) return PASSED;
    const { field, predicate, limit } = broken;
    const bound = limit === undefined ? "" : ` ${limit}`;
    const message = `policy wants this ${DEMANDS[predicate]}${bound}`;
    return failField(field, "argument_rule", message);
  },
};

/** Tells the model which kind of value would pass, never the values of the rule themselves. */
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

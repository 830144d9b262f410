import { TAXONOMY_CLASSES, type TaxonomyClass } from "../../protocol/outcome/taxonomy.ts";

/**
 * The counters of a tool, in one version, and what each counts. The formulas of seeds/004 divide
 * them; docs/metrics.md has the table.
 */
export const TOOL_COUNTERS = {
  schema_valid: "Calls whose arguments fit the schema of the contract.",
  schema_valid_first_try: "Those among them that followed no failed arguments of the same tool.",
  semantic_valid: "Calls whose arguments also fit the rules of the contract.",
  rejected: "Calls that ended in an error before the tool was asked to act.",
  unauthorized: "Calls without the right to make them; not those that people rejected.",
  repair_loops: "Times that a model began to correct its arguments.",
  repaired: "Corrections that led to arguments that fit.",
  repairs_exhausted: "Corrections that the run ended by withdrawing the tool.",
  mutating: "Calls of a tool that changes something.",
  confirmation_required: "Calls of which people were asked for approval.",
  confirmation_requests: "Approval requests.",
  confirmation_rejected: "Approval requests that people rejected.",
  confirmation_bypass: "Calls that went on with an approval that was invalid or used.",
  mutating_requests: "Executions of a tool that changes something.",
  idempotency_hits: "Calls that were answered with the effect of an earlier attempt.",
  retries: "Attempts after the first.",
  successful_retries: "Calls that succeeded after a retry.",
  blocked_retries: "Changes whose outcome is unknown and that were not repeated.",
  executions: "Calls whose tool was asked to act.",
  successful_executions: "Executions that succeeded.",
  mutating_observations: "Successful changes.",
  verification_required: "Successful changes whose state is read again afterwards.",
  compensations: "Calls that undo another call.",
  successful_compensations: "Those among them that succeeded.",
  complete: "Calls whose record holds everything that replay and the audit need.",
  cost_micros: "Cost of the calls, in millionths of the currency of the policy.",
} as const;
export type ToolCounter = keyof typeof TOOL_COUNTERS;

/** Names the counter of the calls that ended in a class; calls without an end have one too. */
export function classCounter(taxonomyClass: TaxonomyClass | undefined): string {
  return taxonomyClass ?? OPEN;
}

const OPEN = "OPEN";

/** Classes in which calls end, as values of the label `class`. */
export const CALL_CLASSES: readonly string[] = [...TAXONOMY_CLASSES, OPEN];

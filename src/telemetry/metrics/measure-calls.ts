import type { InvocationEnd, ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { MeasuredRun } from "../../protocol/metric/measures.ts";
import type { TaxonomyClass } from "../../protocol/outcome/taxonomy.ts";
import { bucketCounter, DURATION_SUM } from "./durations.ts";
import { classCounter, type ToolCounter } from "./tool-counters.ts";

/** What one call adds to the counters of its tool. */
export interface MeasuredCall {
  readonly tool: string;
  readonly version: string;
  readonly counts: Counts;
}

type Counts = Record<string, number>;
type Adds = Partial<Record<ToolCounter, boolean | number>>;

/** A tool that the deployment does not have: the model made its name up. */
const UNKNOWN_TOOL = { tool: "unknown", version: "" };

const SCHEMA_FAILURES: ReadonlySet<TaxonomyClass> = new Set([
  "SYNTACTIC_PARSE_FAIL",
  "STRUCTURAL_VIOLATION",
  "TYPE_MISMATCH",
  "OUT_OF_BOUNDS",
] satisfies TaxonomyClass[]);

/** Codes of calls that went on without a valid approval; not of those that nobody answered. */
const INVALID_APPROVALS: ReadonlySet<string> = new Set(["approval_invalid", "approval_used"]);

/**
 * Measures the calls of a run, in the order in which the model asked for them (seeds/004, "Key
 * Telemetry and SRE Metrics").
 */
export function measureCalls(run: MeasuredRun): readonly MeasuredCall[] {
  const loops = new RepairLoops();
  const asked = Map.groupBy(run.approvals, ({ invocation }) => invocation);
  return run.calls.map((record) => {
    const { name, number, end } = record;
    const requests = (asked.get(number) ?? []).map(({ status }) => status);
    const isRepair = loops.isOpen(name);
    const counts: Counts = { [classCounter(end?.observation.status.taxonomy_class)]: 1 };
    add(counts, {
      mutating: run.mutates(name) === true,
      complete: end !== undefined && (!hasRun(end) || record.binding !== undefined),
      confirmation_required: requests.length > 0,
      confirmation_requests: requests.length,
      confirmation_rejected: requests.filter((status) => status === "rejected").length,
    });
    if (end) {
      add(counts, checksOf(end, isRepair));
      add(counts, executionOf(record, end, run.mutates(name) === true));
      add(counts, loops.take(name, end));
      addDuration(counts, end);
    }
    return { ...toolOf(record, run), counts };
  });
}

function toolOf(
  { name, binding, end }: ToolInvocationRecord,
  { mutates }: MeasuredRun,
): { readonly tool: string; readonly version: string } {
  if (mutates(name) === undefined) return UNKNOWN_TOOL;
  return { tool: name, version: binding?.version ?? versionOf(end) };
}

function versionOf(end: InvocationEnd | undefined): string {
  return end?.observation.tool_identity.version ?? "";
}

/** Tells whether the tool was asked to act. */
function hasRun({ lesson }: InvocationEnd): boolean {
  return lesson?.begun === true;
}

/** What the gates found. */
function checksOf({ observation, fits, lesson }: InvocationEnd, isRepair: boolean): Adds {
  const { taxonomy_class: taxonomyClass, is_error: isError } = observation.status;
  const isSemanticValid = !isError || fits === "rules";
  const isSchemaValid = isSemanticValid || fits === "schema";
  const codes = observation.result_payload.errors.map(({ code }) => code);
  return {
    schema_valid: isSchemaValid,
    schema_valid_first_try: isSchemaValid && !isRepair,
    semantic_valid: isSemanticValid,
    rejected: isError && lesson?.begun !== true,
    unauthorized: taxonomyClass === "PERMISSION_DENIED" && lesson?.refusedByPeople !== true,
    confirmation_bypass:
      taxonomyClass === "CONFIRMATION_MISSING" && codes.some((code) => INVALID_APPROVALS.has(code)),
  };
}

/** What the tool did. */
function executionOf(
  { amounts, awaitedUntilMs, origin, saga }: ToolInvocationRecord,
  end: InvocationEnd,
  mutates: boolean,
): Adds {
  const { observation, response, used = amounts } = end;
  const { attempt_number: attempts, idempotency_hit: isHit } = observation.execution_metadata;
  const isDone = !observation.status.is_error;
  const isUndo = origin === "undo" || saga?.compensates === true;
  const isUnknown = awaitedUntilMs !== undefined || response.next_action === "reconcile_outcome";
  return {
    executions: hasRun(end),
    successful_executions: hasRun(end) && isDone,
    mutating_requests: hasRun(end) && mutates,
    idempotency_hits: isHit,
    retries: attempts - 1,
    successful_retries: isDone && attempts > 1,
    blocked_retries: mutates && isUnknown,
    mutating_observations: mutates && isDone,
    verification_required: observation.verification.post_action_verification_required && isDone,
    compensations: isUndo,
    successful_compensations: isUndo && isDone,
    cost_micros: used?.cost ?? 0,
  };
}

function addDuration(counts: Counts, { startedAtMs, endedAtMs }: InvocationEnd): void {
  const durationMs = Math.max(0, endedAtMs - startedAtMs);
  counts[bucketCounter(durationMs)] = 1;
  counts[DURATION_SUM] = durationMs;
}

function add(counts: Counts, adds: Adds): void {
  for (const [counter, by] of Object.entries(adds)) {
    if (Number(by) > 0) counts[counter] = (counts[counter] ?? 0) + Number(by);
  }
}

/**
 * Follows the repairs of each tool: a call whose arguments do not fit opens a loop, a call that
 * fits closes it, and the run closes it that withdraws the tool.
 */
class RepairLoops {
  readonly #open = new Set<string>();

  isOpen(tool: string): boolean {
    return this.#open.has(tool);
  }

  take(tool: string, { observation, fits, lesson }: InvocationEnd): Adds {
    const { taxonomy_class: taxonomyClass, is_error: isError } = observation.status;
    const isOpen = this.#open.has(tool);
    if (!isError || fits === "rules") {
      this.#open.delete(tool);
      return { repaired: isOpen };
    }
    const isMistake = SCHEMA_FAILURES.has(taxonomyClass) || taxonomyClass === "SEMANTIC_INVALIDITY";
    if (!isMistake || !lesson) return {};
    const isExhausted = observation.result_payload.errors.some(({ code }) => code === ENDED);
    if (isExhausted) this.#open.delete(tool);
    else this.#open.add(tool);
    return { repair_loops: !isOpen, repairs_exhausted: isExhausted };
  }
}

/** Code beside the failure with which the run withdraws a tool; see protocol/outcome/failures. */
const ENDED = "repair_ended";

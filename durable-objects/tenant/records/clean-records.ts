import type { ApprovalPlace } from "../../../src/capabilities/approval.ts";
import type { ApprovalSummary } from "../../../src/protocol/approval/view.ts";
import type { AuditEntry } from "../../../src/protocol/audit/entry.ts";
import type { ListedFeedback } from "../../../src/protocol/conversation/feedback.ts";
import type { JsonObject, JsonValue } from "../../../src/protocol/json/value.ts";
import { addMeasures, type Measures } from "../../../src/protocol/metric/measures.ts";
import type { RunId } from "../../../src/protocol/identity/ids.ts";
import type { AwaitedOutcome } from "../../../src/protocol/run/awaited-outcome.ts";
import type { RunSummary } from "../../../src/protocol/run/summary.ts";
import { maskSecrets } from "../../../src/protocol/secrets/secret-shapes.ts";
import { cutText } from "../../../src/protocol/text/whole-characters.ts";

/** Largest arguments or result that the audit log stores. Unit: UTF-16 code units of JSON. */
const MAX_PAYLOAD_CHARS = 64 * 1024;
/** Longest other text. Unit: UTF-16 code units. */
const MAX_TEXT_CHARS = 4_096;

/**
 * Masks secrets in an audit entry and limits its size.
 * Threat: a title, a reason, or an output that a tool's author forgot to redact may hold a secret.
 * The run would send an entry without a canonical form, or too large for a row, again for ever.
 * Contract: pure; never throws for parsed JSON. The result is bounded and has a canonical form.
 */
export function cleanEntry(entry: AuditEntry): AuditEntry {
  const { input, result, ...facts } = entry;
  return {
    ...clean(facts),
    ...(input && { input: cleanPayload(input) }),
    ...(result && { result: cleanPayload(result) }),
  };
}

/** Masks secrets in a run summary and limits its size, as cleanEntry does. */
export function cleanRun(run: RunSummary): RunSummary {
  return clean(run);
}

/** Masks secrets in an approval summary and limits its size, as cleanEntry does. */
export function cleanApproval(approval: ApprovalSummary): ApprovalSummary {
  return clean(approval);
}

/** Masks secrets in the title that a person gave a conversation, as cleanEntry does. */
export function cleanTitle(title: string): string {
  return clean({ title }).title;
}

/**
 * Masks secrets in feedback, as cleanEntry does.
 * Threat: a notice may name another conversation; the id of its sender replaces the name.
 */
export function cleanFeedback(feedback: ListedFeedback, conversationId: RunId): ListedFeedback {
  return { ...clean(feedback), conversationId };
}

/** Series of one run that are counted apart. */
const MAX_SERIES = 200;
/** Longest name of a series. Unit: UTF-16 code units. */
const MAX_SERIES_CHARS = 400;

/**
 * Bounds what a run counted. Contract: the result has finite numbers that are not negative, and
 * short names.
 */
export function cleanMeasures(measures: Measures): Measures {
  const short = Object.entries(measures).map(([series, counters]) => {
    const counted = Object.entries(counters).filter(([, by]) => Number.isFinite(by) && by > 0);
    return { [cutText(series, MAX_SERIES_CHARS)]: Object.fromEntries(counted) };
  });
  return addMeasures(short, MAX_SERIES);
}

/** Masks secrets in a place, so that its requester is named as in the approval's summary. */
export function cleanPlace(place: ApprovalPlace): ApprovalPlace {
  return clean(place);
}

/** Most withheld values that a list names. */
const MAX_WITHHELD = 100;

/**
 * Masks secrets in unknown outcomes and limits their size, as cleanEntry does.
 * Threat: an outcome may name another run; the id of its sender replaces the name.
 */
export function cleanOutcomes(
  outcomes: readonly AwaitedOutcome[],
  runId: RunId,
): readonly AwaitedOutcome[] {
  return outcomes.map(({ arguments: args, withheld, ...facts }) => ({
    ...clean(facts),
    runId,
    arguments: cleanPayload(args),
    withheld: withheld.slice(0, MAX_WITHHELD).map((pointer) => cutText(pointer, MAX_TEXT_CHARS)),
  }));
}

function cleanPayload(payload: JsonObject): JsonObject {
  const masked = maskSecrets(payload) as JsonObject;
  const chars = JSON.stringify(masked).length;
  return chars > MAX_PAYLOAD_CHARS ? { omitted_chars: chars } : masked;
}

function clean<T extends object>(facts: T): T {
  const json = facts as unknown as JsonObject;
  const entries = Object.entries(json).map(([name, value]) => [name, cut(value)] as const);
  return maskSecrets(Object.fromEntries(entries)) as unknown as T;
}

function cut(value: JsonValue): JsonValue {
  return typeof value === "string" ? cutText(value, MAX_TEXT_CHARS) : value;
}

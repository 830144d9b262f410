import type { RunId } from "../identity/ids.ts";
import type { HistoryRule } from "../assistant/document.ts";

/** A rule that names who summarises what does not fit. */
export type SummaryRule = HistoryRule & { readonly summary: NonNullable<HistoryRule["summary"]> };

/** Earlier turns of a path that one run summarises, for itself and for all that come after it. */
export interface SummaryJob {
  /** The last one of them: a run of the conversation. */
  readonly upTo: RunId;
  readonly rule: SummaryRule;
  /** The longest window, with the summary. Unit: bytes of JSON. */
  readonly maxBytes: number;
}

import type { ToolCallId } from "../protocol/identity/ids.ts";
import type { Sources } from "../protocol/label/source.ts";
import type { ObservationObject } from "../protocol/outcome/observation.ts";
import type { ShownContent } from "../protocol/tool/content.ts";
import type { ShownDetails } from "../protocol/tool/details.ts";
import type { KeptResult } from "../protocol/outcome/kept-result.ts";

/** What a call of its own run answers with, once it has ended. */
export interface CallResult {
  readonly observation: ObservationObject;
  /** Text and images beside the observation. Present exactly when there are some. */
  readonly content?: readonly ShownContent[];
  /** What the tool told people; no model sees it. Absent: nothing. */
  readonly details?: ShownDetails;
}

/**
 * Keeps what calls of a run returned and nobody was shown whole, sealed, as long as the run.
 * Contract: neither throws. `keep` drops what is too large; a newer result of a call replaces the
 * older one. `read` answers undefined for what is not kept, or does not open.
 */
export interface ResultShelf {
  keep(invocation: number, result: KeptResult): Promise<void>;
  read(invocation: number): Promise<KeptResult | undefined>;
}

/** Where a run stores sealed results, by the number of the call. Contract: synchronous. */
export interface ResultStore {
  /** Contract: replaces; drops what would make the results of the run too large together. */
  put(invocation: number, sealed: string): void;
  get(invocation: number): string | undefined;
}

/** What a call returned and nobody was shown whole. */
export type ResultAnswer =
  | { readonly kind: "result"; readonly result: KeptResult }
  /** Nothing is kept, or it is for operators. */
  | { readonly kind: "unknown_result" };

/** The rest of a result, for the tool that reads on. */
export interface ReadResult {
  /** JSON text. */
  readonly text: string;
  /** Where it came from; empty for trusted text. */
  readonly sources: Sources;
}

/**
 * Reads the results of the run that were cut, by the id of their calls. Only `core__read_result`
 * may have it.
 * Contract: answers undefined for a call without one. The reader's call has their sources from then
 * on.
 */
export interface ResultReader {
  read(call: ToolCallId): Promise<ReadResult | undefined>;
}

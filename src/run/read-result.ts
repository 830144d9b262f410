import type { ResultReader, ResultShelf } from "../capabilities/results.ts";
import type { ToolInvocationRecord } from "../protocol/invocation/record.ts";
import { sourcesOfResults } from "../protocol/label/of-results.ts";
import type { KeptResult } from "../protocol/outcome/kept-result.ts";

/** Where a reader finds the calls of its run. */
export interface KnownCalls {
  all(): readonly ToolInvocationRecord[];
}

/**
 * Reads what nobody was shown of a call; undefined where nothing is kept.
 * Threat: a hook withholds a result after it was kept. So the whole of a result belongs to a call
 * that succeeded, and a raw output to one whose output broke its contract.
 */
export async function readKept(
  { number, end }: ToolInvocationRecord,
  shelf: Pick<ResultShelf, "read">,
): Promise<KeptResult | undefined> {
  if (!end) return undefined;
  const kept = await shelf.read(number);
  const { is_error: isError, taxonomy_class: taxonomyClass } = end.observation.status;
  const isBroken = taxonomyClass === "OBSERVATION_NORMALIZATION_FAIL";
  const isOfEnd = kept?.kind === "raw" ? isBroken : !isError;
  return isOfEnd ? kept : undefined;
}

/**
 * Reads the results of a run that were cut, for its model. A raw output stays with operators, and
 * steps of sagas were never shown to the model.
 */
export function createResultReader(
  calls: KnownCalls,
  shelf: Pick<ResultShelf, "read">,
): ResultReader {
  return {
    async read(call) {
      const asked = calls
        .all()
        .findLast(({ toolCallId, saga, end }) => toolCallId === call && !saga && end);
      const kept = asked && (await readKept(asked, shelf));
      if (!asked || kept?.kind !== "whole") return undefined;
      const { data, texts } = kept;
      const text = JSON.stringify(texts ? { data, texts } : data);
      return { text, sources: sourcesOfResults([asked]) };
    },
  };
}

import type { ToolInvocationRecord } from "../invocation/record.ts";
import type { DataClassification } from "../tool/data-class.ts";
import { joinSources, type Sources } from "./source.ts";

/** Lists the sources of what calls returned. */
export function sourcesOfResults(records: readonly ToolInvocationRecord[]): Sources {
  return records.reduce<Sources>(
    (known, { name: tool, toolCallId: call, end }) =>
      end?.isUntrusted ? joinSources(known, [{ kind: "tool", tool, call }]) : known,
    [],
  );
}

/** Lists the classes of the data that calls returned. A call that a gate refused returned none. */
export function classesOfResults(
  records: readonly ToolInvocationRecord[],
): readonly DataClassification[] {
  return [...new Set(records.flatMap(({ binding }) => binding?.dataClass ?? []))];
}

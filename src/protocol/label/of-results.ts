import type { ToolInvocationRecord } from "../invocation/record.ts";
import type { DataClassification } from "../tool/data-class.ts";
import { joinSources, type Sources } from "./source.ts";

/** Lists the sources of what calls returned, and of the rows that they read. */
export function sourcesOfResults(records: readonly ToolInvocationRecord[]): Sources {
  return records.reduce<Sources>(
    (known, { name: tool, toolCallId: call, rowSources = [], end }) =>
      end?.isUntrusted ? joinSources(known, [...rowSources, { kind: "tool", tool, call }]) : known,
    [],
  );
}

/** Lists the classes of the data that calls returned. A call that a gate refused returned none. */
export function classesOfResults(
  records: readonly ToolInvocationRecord[],
): readonly DataClassification[] {
  return [...new Set(records.flatMap(({ binding }) => binding?.dataClass ?? []))];
}

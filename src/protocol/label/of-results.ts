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

/**
 * Lists the classes of the data that calls returned. Of a call that a gate refused that is the
 * state that its contract read, or nothing.
 */
export function classesOfResults(
  records: readonly ToolInvocationRecord[],
): readonly DataClassification[] {
  const classes = records.flatMap(({ binding, end }) => binding?.dataClass ?? end?.dataClass ?? []);
  return [...new Set(classes)];
}

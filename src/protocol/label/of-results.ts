import type { ToolInvocationRecord } from "../invocation/record.ts";
import { joinSources, type Sources } from "./source.ts";

/** Lists the sources of what calls returned. */
export function sourcesOfResults(records: readonly ToolInvocationRecord[]): Sources {
  return records.reduce<Sources>(
    (known, { name: tool, toolCallId: call, end }) =>
      end?.isUntrusted ? joinSources(known, [{ kind: "tool", tool, call }]) : known,
    [],
  );
}

import type { AuditEntry } from "./entry.ts";
import { toCanonicalJson } from "../json/canonical-hash.ts";
import type { RunId } from "../identity/ids.ts";
import { projectOf } from "./named-project.ts";
import type { JsonObject } from "../json/value.ts";
import type { ToolSpec } from "../tool/spec.ts";

/**
 * One tool call in a prompt history (seeds/003, section 4). Input and response are redacted JSON.
 */
export interface PromptHistoryEntry {
  /** The project that the call names, as `projectOf` finds it. */
  readonly projectId: string | null;
  /** `tool:` and the tool's id. */
  readonly promptType: string;
  /** The tool's description; null when the deployment does not have this version any more. */
  readonly promptTemplate: string | null;
  readonly promptInput: string | null;
  readonly promptContext: {
    /** Who made the call, and where its record is. */
    readonly context: Partial<
      Pick<AuditEntry, "actorId" | "subjectId" | "runId" | "invocationId" | "toolVersion">
    >;
    /** The tool's effect; null as above. */
    readonly mutationType: ToolSpec["effect"] | null;
  };
  readonly response: string | null;
  /** The runtime executes a call, and no model: these two are the same in each entry. */
  readonly aiProvider: "tool_executor";
  readonly aiModel: "n/a";
  readonly durationMs: number;
  readonly status: "completed" | "failed";
  /** Taxonomy class and code of a failed call. */
  readonly error?: string;
  readonly at: string;
  readonly runId: RunId | null;
}

/**
 * Turns a `call.ended` entry into one of a prompt history, with the spec of the tool's version.
 * Contract: pure.
 */
export function toPromptHistory(
  entry: AuditEntry,
  spec: Pick<ToolSpec, "description" | "effect"> | undefined,
): PromptHistoryEntry {
  const { toolId = "unknown", input, result, durationMs = 0, outcome, reason, at } = entry;
  const { actorId, subjectId, runId, invocationId, toolVersion } = entry;
  const hasFailed = outcome !== "SUCCESS" && outcome !== "PARTIAL_SUCCESS";
  return {
    projectId: projectOf(input, result),
    promptType: `tool:${toolId}`,
    promptTemplate: spec?.description ?? null,
    promptInput: textOf(input),
    promptContext: {
      context: {
        ...(actorId !== undefined && { actorId }),
        ...(subjectId !== undefined && { subjectId }),
        ...(runId !== undefined && { runId }),
        ...(invocationId !== undefined && { invocationId }),
        ...(toolVersion !== undefined && { toolVersion }),
      },
      mutationType: spec?.effect ?? null,
    },
    response: textOf(result),
    aiProvider: "tool_executor",
    aiModel: "n/a",
    durationMs,
    status: hasFailed ? "failed" : "completed",
    ...(hasFailed && { error: [outcome, reason].filter(Boolean).join(": ") }),
    at,
    runId: runId ?? null,
  };
}

function textOf(value: JsonObject | undefined): string | null {
  return value === undefined ? null : toCanonicalJson(value);
}

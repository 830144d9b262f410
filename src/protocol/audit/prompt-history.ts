import type { AuditEntry } from "./entry.ts";
import { toCanonicalJson } from "../json/canonical-hash.ts";
import type { RunId } from "../identity/ids.ts";
import type { JsonObject } from "../json/value.ts";

/**
 * One tool call in a prompt history (seeds/003, section 4). Input and response are redacted JSON.
 */
export interface PromptHistoryEntry {
  /** `tool:` and the tool's id. */
  readonly promptType: string;
  readonly promptInput: string | null;
  readonly response: string | null;
  readonly durationMs: number;
  readonly status: "completed" | "failed";
  /** Taxonomy class and code of a failed call. */
  readonly error?: string;
  readonly at: string;
  readonly runId: RunId | null;
}

/** Turns a `call.ended` entry into one of a prompt history. Contract: pure. */
export function toPromptHistory(entry: AuditEntry): PromptHistoryEntry {
  const { toolId = "unknown", input, result, durationMs = 0, outcome, reason, at } = entry;
  const hasFailed = outcome !== "SUCCESS" && outcome !== "PARTIAL_SUCCESS";
  return {
    promptType: `tool:${toolId}`,
    promptInput: textOf(input),
    response: textOf(result),
    durationMs,
    status: hasFailed ? "failed" : "completed",
    ...(hasFailed && { error: [outcome, reason].filter(Boolean).join(": ") }),
    at,
    runId: entry.runId ?? null,
  };
}

function textOf(value: JsonObject | undefined): string | null {
  return value === undefined ? null : toCanonicalJson(value);
}

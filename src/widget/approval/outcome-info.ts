import { isJsonObject, type JsonValue } from "../../protocol/json/value.ts";
import { readTime } from "./read-time.ts";
import type { PacketLine } from "../../protocol/approval/packet-lines.ts";

/** What an operator found out, or did. */
export type ReportedOutcome = "committed" | "not_committed" | "reviewed";

/** A call with an unknown outcome, read from `GET /v1/outcomes`. Times are Unix milliseconds. */
export interface OutcomeInfo {
  readonly runId: string;
  readonly invocationId: string;
  readonly toolId: string;
  readonly requestedBy: string;
  /** Who is responsible for the tool. */
  readonly owner: string;
  readonly attempts: number;
  /** The call completed, and undoing it failed: the report says whether it is undone. */
  readonly isUndo: boolean;
  /** Present when a saga tried to undo this step of it. */
  readonly saga: SagaInfo | undefined;
  readonly dispatchedAtMs: number | undefined;
  readonly untilMs: number;
  /** The shown arguments; label and text are safe to show. */
  readonly lines: readonly PacketLine[];
  /** Present when the state after the completed call was not the expected one. */
  readonly mismatch: MismatchInfo | undefined;
}

/** A saga that could not undo a step, and its other steps that stay. */
interface SagaInfo {
  readonly toolId: string;
  readonly stays: readonly string[];
}

/** States of a call's target, as lines that are safe to show. */
interface MismatchInfo {
  readonly lines: readonly PacketLine[];
}

/** Reads one item; undefined for a value that is none. Contract: never throws. */
export function readOutcomeInfo(value: JsonValue): OutcomeInfo | undefined {
  if (!isJsonObject(value)) return undefined;
  const { owner, runId, invocationId, toolId, requestedBy, attempts, lines, mismatch, undo } =
    value;
  const untilMs = readTime(value["awaitsOutcomeUntil"]);
  const isNamed = typeof runId === "string" && typeof invocationId === "string";
  if (!isNamed || typeof toolId !== "string" || untilMs === undefined) return undefined;
  return {
    runId,
    invocationId,
    toolId,
    requestedBy: typeof requestedBy === "string" ? requestedBy : "unknown",
    owner: typeof owner === "string" ? owner : "unknown",
    attempts: typeof attempts === "number" ? attempts : 1,
    isUndo: isJsonObject(undo),
    saga: isJsonObject(undo) ? readSaga(undo["saga"]) : undefined,
    dispatchedAtMs: readTime(value["dispatchedAt"]),
    untilMs,
    lines: readLines(lines),
    mismatch: isJsonObject(mismatch) ? { lines: readLines(mismatch["lines"]) } : undefined,
  };
}

function readSaga(saga: JsonValue | undefined): SagaInfo | undefined {
  if (!isJsonObject(saga)) return undefined;
  const { stays } = saga;
  const calls = Array.isArray(stays) ? stays.map(nameOf) : [];
  return { toolId: nameOf(saga), stays: calls };
}

function nameOf(call: JsonValue): string {
  const toolId = isJsonObject(call) ? call["toolId"] : undefined;
  return typeof toolId === "string" ? toolId : "unknown";
}

function readLines(lines: JsonValue | undefined): readonly PacketLine[] {
  return Array.isArray(lines) ? (lines as readonly unknown[] as readonly PacketLine[]) : [];
}

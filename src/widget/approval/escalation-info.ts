import { isJsonObject, type JsonValue } from "../../protocol/json/value.ts";

/** Something that a run could not settle and an operator settles here, of `GET /v1/escalations`. */
export interface EscalationInfo {
  readonly id: string;
  readonly reason: string;
  readonly toolId: string;
  readonly owner: string;
  readonly requestedBy: string;
  readonly count: number;
  readonly openedAtMs: number;
  /** Who works on it; undefined when nobody does. */
  readonly takenBy: string | undefined;
  readonly note: string | undefined;
}

/** What an operator does with it. */
export type EscalationAction = "take" | "release" | "settle";

/** Reads one item; undefined for a value that is none, or that only a report settles. */
export function readEscalationInfo(value: JsonValue): EscalationInfo | undefined {
  if (!isJsonObject(value)) return undefined;
  const { id, reason, count, actions, openedAt } = value;
  const isSettledHere = Array.isArray(actions) && actions.includes("settle");
  if (typeof id !== "string" || typeof reason !== "string" || !isSettledHere) return undefined;
  return {
    id,
    reason,
    toolId: textOf(value["toolId"]) ?? "unknown",
    owner: textOf(value["owner"]) ?? "unknown",
    requestedBy: textOf(value["requestedBy"]) ?? "unknown",
    count: typeof count === "number" ? count : 1,
    openedAtMs: Date.parse(textOf(openedAt) ?? ""),
    takenBy: textOf(value["takenBy"]),
    note: textOf(value["note"]),
  };
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

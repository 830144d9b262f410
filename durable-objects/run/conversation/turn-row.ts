import type { Turn, TurnEnd, TurnSummary } from "../../../src/conversation/stored-turns.ts";
import type { Feedback } from "../../../src/protocol/conversation/feedback.ts";
import type { RunId } from "../../../src/protocol/identity/ids.ts";
import type { RunOwner } from "../../../src/protocol/identity/viewer.ts";
import type { Labels } from "../../../src/protocol/label/source.ts";

/** A row of the table `turns`. */
export type TurnRow = {
  number: number;
  run_id: string;
  parent: number | null;
  root: number;
  depth: number;
  message_id: string | null;
  hash: string | null;
  key_run_id: string | null;
  owner: string;
  others: string;
  opened_ms: number;
  ended_ms: number | null;
  page_hash: string | null;
  bytes: number | null;
  short_bytes: number | null;
  labels: string | null;
  title: string | null;
  said_keys: string | null;
  feedback: string | null;
  summary: string | null;
};

/** Reads a row. */
export function toTurn(row: TurnRow): Turn {
  return {
    number: row.number,
    runId: row.run_id as RunId,
    parent: row.parent,
    root: row.root,
    depth: row.depth,
    messageId: row.message_id,
    hash: row.hash,
    ...(row.key_run_id !== null && { keyRunId: row.key_run_id as RunId }),
    owner: JSON.parse(row.owner) as RunOwner,
    others: JSON.parse(row.others) as readonly RunOwner[],
    openedMs: row.opened_ms,
    ...(row.feedback !== null && { feedback: JSON.parse(row.feedback) as Feedback }),
    end: toEnd(row),
    ...(row.summary !== null && { summary: JSON.parse(row.summary) as TurnSummary }),
  };
}

function toEnd({
  ended_ms: endedMs,
  page_hash: hash,
  bytes,
  short_bytes: shortBytes,
  labels,
  title,
  said_keys: keys,
}: TurnRow): TurnEnd | null {
  const isOpen = endedMs === null || hash === null || bytes === null || shortBytes === null;
  if (isOpen || labels === null) return null;
  const saidKeys = JSON.parse(keys ?? "[]") as readonly string[];
  const known = { endedMs, hash, bytes, shortBytes, title, saidKeys };
  return { ...known, labels: JSON.parse(labels) as Labels };
}

import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import type { HistoryReference } from "../protocol/conversation/turn.ts";
import { labelled } from "../protocol/label/source.ts";
import type { StoredTurns, Turn, TurnEnd } from "./stored-turns.ts";

/** The earlier turns that a model is shown, and how a run refers to them. */
export interface Window {
  readonly messages: readonly TranscriptMessage[];
  readonly history: HistoryReference;
}

/** A turn whose page is stored. */
export type EndedTurn = Turn & { readonly end: TurnEnd };

export type HashNow = (text: string) => string;

/**
 * Reads the newest turns of a path that fit, and the system message of its root. Contract: whole
 * turns; the same turns have the same hash. Undefined: the newest one alone does not fit.
 */
export function readWindow(
  turns: StoredTurns,
  newest: EndedTurn,
  { maxBytes, hash }: { readonly maxBytes: number; readonly hash: HashNow },
): Window | undefined {
  const taken: EndedTurn[] = [];
  let bytes = 0;
  for (const turn of pathFrom(turns, newest)) {
    bytes += turn.end.bytes;
    if (bytes > maxBytes) break;
    taken.unshift(turn);
  }
  return taken.length === 0 ? undefined : join(turns, taken, hash);
}

/** Reads the window of a reference again; undefined when a turn of it is gone. */
export function rereadWindow(
  turns: StoredTurns,
  newest: EndedTurn,
  { history, hash }: { readonly history: HistoryReference; readonly hash: HashNow },
): Window | undefined {
  const taken: EndedTurn[] = [];
  for (const turn of pathFrom(turns, newest)) {
    if (taken.length === history.turns) break;
    taken.unshift(turn);
  }
  return taken.length < history.turns ? undefined : join(turns, taken, hash);
}

/** A path from a turn to its root. Every turn before another one has ended. */
function* pathFrom(turns: StoredTurns, newest: EndedTurn): Generator<EndedTurn> {
  for (let turn: Turn = newest; ; turn = turns.at(turn.parent)) {
    if (!hasEnded(turn)) return;
    yield turn;
    if (turn.parent === null) return;
  }
}

export function hasEnded(turn: Turn): turn is EndedTurn {
  return turn.end !== null;
}

function join(turns: StoredTurns, taken: readonly EndedTurn[], hash: HashNow): Window {
  const [oldest] = taken;
  const newest = taken.at(-1);
  if (!oldest || !newest) throw new Error("a window has a turn");
  const system = oldest.depth === 0 ? [] : readSystem(turns, oldest);
  const messages = [...system, ...taken.flatMap(({ number }) => turns.page(number).messages)];
  const hashes = [...taken.map(({ end }) => end.hash), ...system.map(({ text }) => text)];
  return {
    messages,
    history: {
      after: newest.runId,
      hash: hash(JSON.stringify(hashes)),
      turns: taken.length,
      leftOut: oldest.depth,
      ...labelled(newest.end.labels.sources, newest.end.labels.dataClasses),
    },
  };
}

/** Instructions that an application sent with its first message hold for the whole path. */
function readSystem(
  turns: StoredTurns,
  { root }: Turn,
): readonly Extract<TranscriptMessage, { role: "system" }>[] {
  const [first] = turns.page(root).messages;
  return first?.role === "system" ? [first] : [];
}

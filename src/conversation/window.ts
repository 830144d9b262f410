import type { HistoryRule } from "../protocol/assistant/document.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import { SHORTENING, shortenTurn } from "../protocol/conversation/shorten-turn.ts";
import { MAX_TURNS, type HistoryReference } from "../protocol/conversation/turn.ts";
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

/** How much of a path a model is shown. */
export interface WindowBounds extends HistoryRule {
  /** Unit: bytes of JSON. */
  readonly maxBytes: number;
}

/**
 * Reads the newest turns of a path that fit, the older ones of them shortened, and the system
 * message of its root. Contract: the same turns have the same hash. Undefined: the newest one alone
 * does not fit.
 */
export function readWindow(
  turns: StoredTurns,
  newest: EndedTurn,
  {
    maxBytes,
    wholeTurns = MAX_TURNS,
    maxTurns = MAX_TURNS,
    hash,
  }: WindowBounds & { readonly hash: HashNow },
): Window | undefined {
  const firstWhole = beginOf(newest, 2 * wholeTurns - 1, wholeTurns);
  const firstShown = beginOf(newest, maxTurns, Math.ceil(maxTurns / 2));
  const taken: EndedTurn[] = [];
  let bytes = 0;
  for (const turn of pathFrom(turns, newest)) {
    bytes += turn.depth < firstWhole ? turn.end.shortBytes : turn.end.bytes;
    if (bytes > maxBytes || turn.depth < firstShown) break;
    taken.unshift(turn);
  }
  const shortened = taken.filter(({ depth }) => depth < firstWhole).length;
  return taken.length === 0 ? undefined : join(turns, { taken, shortened, hash });
}

/**
 * Finds where the newest turns of a path begin, `most` of them or up to a step fewer. The place
 * moves by whole steps, because a provider's cache serves a prompt until its beginning changes.
 */
function beginOf({ depth }: Turn, most: number, step: number): number {
  return Math.max(0, Math.ceil((depth + 1 - most) / step) * step);
}

/** Reads the window of a reference again; undefined when a turn of it is gone. */
export function rereadWindow(
  turns: StoredTurns,
  newest: EndedTurn,
  { history, hash }: { readonly history: HistoryReference; readonly hash: HashNow },
): Window | undefined {
  const { shortened } = history;
  const taken: EndedTurn[] = [];
  for (const turn of pathFrom(turns, newest)) {
    if (taken.length === history.turns) break;
    taken.unshift(turn);
  }
  return taken.length < history.turns ? undefined : join(turns, { taken, shortened, hash });
}

/** A path from a turn to its root. Every turn before another one has ended. */
function* pathFrom(turns: StoredTurns, newest: EndedTurn): Generator<EndedTurn> {
  for (const turn of turns.path(newest)) if (hasEnded(turn)) yield turn;
}

export function hasEnded(turn: Turn): turn is EndedTurn {
  return turn.end !== null;
}

interface Taken {
  /** Turns, the oldest first. */
  readonly taken: readonly EndedTurn[];
  /** Of these, the oldest ones that are shortened. */
  readonly shortened: number;
  readonly hash: HashNow;
}

function join(turns: StoredTurns, { taken, shortened, hash }: Taken): Window {
  const [oldest] = taken;
  const newest = taken.at(-1);
  if (!oldest || !newest) throw new Error("a window has a turn");
  const system = oldest.depth === 0 ? [] : readSystem(turns, oldest);
  const read = turns.messages(taken.map(({ number }) => number));
  const said = read.flatMap((messages, index) =>
    index < shortened ? shortenTurn(messages) : messages,
  );
  const hashes = [...taken.map(({ end }) => end.hash), ...system.map(({ text }) => text)];
  return {
    messages: [...system, ...said],
    history: {
      after: newest.runId,
      hash: hash(JSON.stringify([...hashes, shortened, SHORTENING])),
      turns: taken.length,
      shortened,
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

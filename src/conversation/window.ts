import type { HistoryRule } from "../protocol/assistant/document.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import { SHORTENING, shortenTurn } from "../protocol/conversation/shorten-turn.ts";
import { MAX_TURNS, type HistoryReference } from "../protocol/conversation/turn.ts";
import { labelled } from "../protocol/label/source.ts";
import { hasEnded, pathFrom, type EndedTurn } from "./path.ts";
import type { StoredTurns, Turn } from "./stored-turns.ts";
import { chooseSummarised, isSummarised, readSummary, type ShownPath } from "./summarised-path.ts";

/** The earlier turns that a model is shown, and how a run refers to them. */
export interface Window {
  readonly messages: readonly TranscriptMessage[];
  readonly history: HistoryReference;
  /** The turn up to which a summary should stand before the window, and does not. */
  readonly missing?: EndedTurn;
}

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
  bounds: WindowBounds & { readonly hash: HashNow },
): Window | undefined {
  const { maxBytes, wholeTurns = MAX_TURNS, maxTurns = MAX_TURNS, summary, hash } = bounds;
  const firstWhole = beginOf(newest, 2 * wholeTurns - 1, wholeTurns);
  const isShort = ({ depth }: Turn): boolean => depth < firstWhole;
  const sizeOf = (turn: EndedTurn): number =>
    isShort(turn) ? turn.end.shortBytes : turn.end.bytes;
  const path = pathFrom(turns, newest);
  const chosen = summary
    ? chooseSummarised(path, { maxBytes, maxTurns, sizeOf })
    : chooseNewest(path, {
        maxBytes,
        first: beginOf(newest, maxTurns, Math.ceil(maxTurns / 2)),
        sizeOf,
      });
  if (!chosen) return undefined;
  const shortened = chosen.taken.filter(isShort).length;
  const { missing } = chosen;
  return { ...join(turns, { ...chosen, shortened, hash }), ...(missing && { missing }) };
}

/** Chooses the newest turns that fit, none before the first one. */
function chooseNewest(
  path: Iterable<EndedTurn>,
  {
    maxBytes,
    first,
    sizeOf,
  }: {
    readonly maxBytes: number;
    readonly first: number;
    readonly sizeOf: (turn: EndedTurn) => number;
  },
): ShownPath | undefined {
  const taken: EndedTurn[] = [];
  let bytes = 0;
  for (const turn of path) {
    bytes += sizeOf(turn);
    if (bytes > maxBytes || turn.depth < first) break;
    taken.unshift(turn);
  }
  return taken.length === 0 ? undefined : { taken };
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
  const { shortened, summary } = history;
  const taken: EndedTurn[] = [];
  for (const turn of pathFrom(turns, newest)) {
    if (taken.length === history.turns) break;
    taken.unshift(turn);
  }
  const named = summary && turns.of(summary.upTo);
  const summarised = named && hasEnded(named) && isSummarised(named) ? named : undefined;
  if (taken.length < history.turns || (summary && !summarised)) return undefined;
  return join(turns, { taken, shortened, hash, ...(summarised && { summarised }) });
}

interface Taken extends Omit<ShownPath, "missing"> {
  /** Of these, the oldest ones that are shortened. */
  readonly shortened: number;
  readonly hash: HashNow;
}

function join(turns: StoredTurns, { taken, summarised, shortened, hash }: Taken): Window {
  const [oldest] = taken;
  const newest = taken.at(-1);
  if (!oldest || !newest) throw new Error("a window has a turn");
  const system = oldest.depth === 0 ? [] : readSystem(turns, oldest);
  const summary = summarised ? [readSummary(turns, summarised)] : [];
  const read = turns.messages(taken.map(({ number }) => number));
  const said = read.flatMap((messages, index) =>
    index < shortened ? shortenTurn(messages) : messages,
  );
  const { sources, dataClasses } = newest.end.labels;
  const { stored } = summarised?.summary ?? {};
  const hashes = [
    ...taken.map(({ end }) => end.hash),
    ...system.map(({ text }) => text),
    ...(stored ? [stored.hash] : []),
  ];
  return {
    messages: [...system, ...summary, ...said],
    history: {
      after: newest.runId,
      hash: hash(JSON.stringify([...hashes, shortened, SHORTENING])),
      turns: taken.length,
      shortened,
      leftOut: oldest.depth - (stored?.turns ?? 0),
      ...(summarised &&
        stored && {
          summary: { upTo: summarised.runId, turns: stored.turns, model: stored.model },
        }),
      ...labelled(sources, dataClasses),
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

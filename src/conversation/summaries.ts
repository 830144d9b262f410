import type { RangeAnswer, SummaryAnswer, WrittenSummary } from "../capabilities/conversation.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import { shortenTurn } from "../protocol/conversation/shorten-turn.ts";
import type { SummaryJob } from "../protocol/conversation/summary-job.ts";
import { hasEnded, pathFrom, type EndedTurn } from "./path.ts";
import type { StoredTurns, Turn } from "./stored-turns.ts";
import { fitSummary, isSummarised, readSummary } from "./summarised-path.ts";
import { readWindow, type HashNow } from "./window.ts";

/** Tells whether a run may be asked for a summary: no other run is, or that run has ended. */
export function mayAsk(turns: StoredTurns, { summary }: Turn, asked: Turn): boolean {
  if (!summary || summary.by === asked.number) return true;
  const other = turns.find(summary.by);
  return !other || hasEnded(other);
}

/** A run that was asked for a summary. */
interface AskedRun {
  /** Undefined: the conversation does not know the run. */
  readonly turn: Turn | undefined;
  readonly job: SummaryJob;
}

/** Finds the turn up to which a run was asked for a summary. Undefined: it was not. */
function findTarget(turns: StoredTurns, { turn, job }: AskedRun): EndedTurn | undefined {
  const target = turns.of(job.upTo);
  const isAsked = turn && target?.summary?.by === turn.number && hasEnded(target);
  return isAsked ? target : undefined;
}

/** Reads what a run was asked to summarise: the newest turns that fit, and the summary before. */
export function readRange(turns: StoredTurns, asked: AskedRun): RangeAnswer {
  const target = findTarget(turns, asked);
  if (!target) return { kind: "gone" };
  const taken: EndedTurn[] = [];
  const before: TranscriptMessage[] = [];
  let [bytes, count] = [0, 0];
  for (const turn of pathFrom(turns, target)) {
    if (isSummarised(turn)) {
      before.push(readSummary(turns, turn));
      count = turn.summary.stored.turns;
      break;
    }
    bytes += turn.end.shortBytes;
    if (taken.length > 0 && bytes > asked.job.maxBytes) break;
    taken.unshift(turn);
  }
  const said = turns.messages(taken.map(({ number }) => number)).flatMap(shortenTurn);
  return { kind: "range", messages: [...before, ...said], turns: count + taken.length };
}

/** Stores a summary, and answers the window that begins with it. */
export function keepSummary(
  turns: StoredTurns,
  asked: AskedRun & { readonly written: WrittenSummary; readonly hash: HashNow },
): SummaryAnswer {
  const { turn, job, written, hash } = asked;
  const target = findTarget(turns, asked);
  const newest = turn && turn.parent !== null ? turns.find(turn.parent) : undefined;
  if (!target || !newest || !hasEnded(newest)) return { kind: "gone" };
  if (!isSummarised(target)) {
    const { model, turns: count } = written;
    const { text, bytes } = fitSummary(written, target.end.labels, job.maxBytes);
    const stored = { turns: count, model, bytes, hash: hash(text) };
    turns.summarise(target.number, { by: turn?.number ?? 0, stored }, text);
  }
  const window = readWindow(turns, newest, { ...job.rule, maxBytes: job.maxBytes, hash });
  if (!window) return { kind: "gone" };
  return { kind: "window", history: window.history, messages: window.messages };
}

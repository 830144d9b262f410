import type { ErasureAnswer } from "../capabilities/conversation.ts";
import type { BusyAnswer, RunErasure, RunMethods } from "../capabilities/run.ts";
import type { BusyRun } from "../protocol/conversation/erasure.ts";
import { CLAIM_WITHIN_MS } from "../protocol/conversation/turn.ts";
import type { RunId } from "../protocol/identity/ids.ts";
import { viewerOfOwner } from "../protocol/identity/viewer.ts";
import type { StoredTurns, Turn } from "./stored-turns.ts";

/** What deleting a conversation works on. */
export interface ErasurePorts {
  readonly turns: StoredTurns;
  readonly erasure: {
    /** Stores the tombstone. */
    begin(): void;
    /** Deletes everything that the conversation keeps, but the tombstone. */
    finish(): void;
  };
  readonly runOf: (runId: RunId) => Pick<RunMethods, "busy" | "erase">;
  readonly nowMs: () => number;
}

/** Turns that are asked at once. */
const AT_ONCE = 16;

/**
 * Puts the tombstone down, unless somebody still works on a run. Threat: a post that comes between
 * the questions and the tombstone; so a conversation that has grown meanwhile is asked again.
 */
export async function beginErasure(ports: ErasurePorts): Promise<ErasureAnswer | undefined> {
  const { turns, erasure } = ports;
  for (;;) {
    const seen = turns.next;
    const runs = await findBusy(ports);
    if (runs.length > 0) return { kind: "busy", runs };
    if (turns.next !== seen) continue;
    erasure.begin();
    return undefined;
  }
}

async function findBusy(ports: ErasurePorts): Promise<readonly BusyRun[]> {
  const found = await inGroups([...ports.turns.newest()], (turn) => askBusy(ports, turn));
  return found.filter(({ why }) => why.length > 0);
}

const UNREACHABLE: BusyAnswer = { kind: "busy", why: ["unreachable"] };

async function askBusy({ runOf, nowMs }: ErasurePorts, turn: Turn): Promise<BusyRun> {
  const { runId, owner, openedMs } = turn;
  const asked = runOf(runId).busy(viewerOfOwner(owner));
  const answer = await asked.catch(() => UNREACHABLE);
  if (answer.kind === "busy") return { runId, why: answer.why };
  // Its run may still be claimed.
  const isFresh = turn.end === null && openedMs > nowMs() - 2 * CLAIM_WITHIN_MS;
  return { runId, why: isFresh ? ["unfinished"] : [] };
}

/**
 * Deletes what is left: the runs, the first one last, and then the pages. Answers the number of
 * turns whose runs still have something to deliver, or did not answer. Contract: idempotent at
 * every step.
 */
export async function continueErasure({ turns, erasure, runOf }: ErasurePorts): Promise<number> {
  const erase = ({ runId, owner }: Turn): Promise<RunErasure> =>
    runOf(runId)
      .erase(viewerOfOwner(owner))
      .catch(() => ({ kind: "pending" }));
  const all = [...turns.newest()];
  const [first, ...later] = all.toReversed();
  const left = await inGroups(later, async (turn) => {
    const answer = await erase(turn);
    if (answer.kind === "pending") return 1;
    turns.remove(turn.number);
    return 0;
  });
  const pending = left.reduce<number>((sum, one) => sum + one, 0);
  if (!first || pending > 0) return pending;
  const answer = await erase(first);
  if (answer.kind === "pending") return 1;
  erasure.finish();
  return 0;
}

async function inGroups<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const done: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE) {
    done.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))));
  }
  return done;
}

import type { StoredRun } from "./stored-run.ts";

/** Where a claimed run stands. */
export type RunPhase =
  /** A loop is running. */
  | "running"
  /** The loop of this incarnation makes no progress. */
  | "stuck"
  /** An earlier incarnation left the run unfinished, or its recovery backs off. */
  | "interrupted"
  /** The loop stopped for a person or a planned attempt. */
  | "waiting"
  | "ended";

/** What makes the object of a run look at the run. */
export type RunTrigger =
  /** A new incarnation has opened the run. */
  | "woken"
  /** A decision or a report arrived, or a planned attempt is due. */
  | "answered"
  /** Somebody or a limit stops the run; the reason is stored. */
  | "stopped"
  /** The watchdog rang. */
  | "watched";

export type RunMove =
  | "nothing"
  /** Starts the loop again, unless the run backs off. */
  | "recover"
  /** The same after a crash: readers may have seen events that the crash lost. */
  | "recover_in_new_epoch"
  /** The same without the backoff. */
  | "recover_at_once"
  /** Starts the loop of a waiting run, which lost nothing. */
  | "relaunch"
  /** Tells the loop to stop. */
  | "stop_loop"
  /** Sets the watchdog again. */
  | "watch"
  | "end_watch"
  /** Ends this incarnation; the next one recovers the run. */
  | "abandon"
  | "set_final_deadlines";

const MOVES: Readonly<Record<RunPhase, Readonly<Record<RunTrigger, RunMove>>>> = {
  // A running loop reads answers itself. No loop is older than its incarnation, so none is woken.
  running: { woken: "nothing", answered: "nothing", stopped: "stop_loop", watched: "watch" },
  stuck: { woken: "nothing", answered: "nothing", stopped: "stop_loop", watched: "abandon" },
  interrupted: {
    woken: "recover_in_new_epoch",
    answered: "nothing",
    stopped: "recover_at_once",
    watched: "recover",
  },
  // A run that begins to wait clears its watchdog. But the alarm rings for several deadlines in
  // turn, so the run may begin to wait between them. A loop started then is a second one as soon
  // as an answer arrives.
  waiting: { woken: "nothing", answered: "relaunch", stopped: "relaunch", watched: "end_watch" },
  ended: {
    woken: "set_final_deadlines",
    answered: "nothing",
    stopped: "nothing",
    watched: "set_final_deadlines",
  },
};

/** What a phase is read from. */
export interface PhasePorts {
  readonly run: {
    readonly store: Pick<StoredRun["store"], "incarnations">;
    readonly journal: Pick<StoredRun["journal"], "hasEnded">;
  };
  /** The loop of this incarnation. */
  readonly loop: { readonly isRunning: boolean; readonly isStuck: boolean };
}

/**
 * Tells what the object of a run does next.
 * Contract: pure; each phase has a move for each trigger.
 */
export function nextMove(ports: PhasePorts, trigger: RunTrigger): RunMove {
  return MOVES[phaseOf(ports)][trigger];
}

/** A run has ended before its loop returns. */
function phaseOf({ run: { store, journal }, loop }: PhasePorts): RunPhase {
  if (journal.hasEnded) return "ended";
  if (loop.isRunning) return loop.isStuck ? "stuck" : "running";
  return store.incarnations().isWaiting ? "waiting" : "interrupted";
}

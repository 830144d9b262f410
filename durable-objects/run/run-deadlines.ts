import type { Env } from "../../src/env.ts";
import type { DeadlineChange, DeadlineSet, RunDeadline } from "../deadlines.ts";
import type { OpenRun } from "./open-run.ts";

/** Interval of the watchdog. */
export const WATCH_EVERY_MS = 30_000;

/** Deadlines of a run that is claimed now; they are stored with the claim. */
export function firstDeadlines(nowMs: number): DeadlineSet<RunDeadline> {
  return { watchdog: { atMs: nowMs + WATCH_EVERY_MS } };
}

/** Deadlines after the end of a run: those of its deletion, and of what is not delivered yet. */
export function finalDeadlines(
  { store, outbox }: Pick<OpenRun, "store" | "outbox">,
  { lifetimes, nowMs }: Pick<Env, "lifetimes"> & { readonly nowMs: number },
): Required<DeadlineChange<RunDeadline>> {
  const endedMs = store.progress().endedMs ?? nowMs;
  const { runMs, keyMs } = lifetimes;
  return {
    clear: ["watchdog", "wall_clock", "outcome", "approval", "retry"],
    add: {
      ...(!outbox.isEmpty() && { outbox: { atMs: nowMs } }),
      retention: { atMs: endedMs + runMs },
      forget: { atMs: endedMs + Math.max(runMs, keyMs) },
    },
  };
}

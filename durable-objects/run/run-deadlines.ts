import type { Env } from "../../src/env.ts";
import type { WaitReasons } from "../../src/run/wait-reasons.ts";
import type { DeadlineChange, DeadlineSet, RunDeadline, RunDeadlines } from "../deadlines.ts";
import type { OpenRun } from "./open-run.ts";

/** Interval of the watchdog. */
export const WATCH_EVERY_MS = 30_000;

/** Runs that end within this time deliver in one moment, which wakes a process once for all. */
const SHARE_MS = 50;
const MAX_DELIVERY_DELAY_MS = 125;

/**
 * Delay of the delivery after the end. The platform holds back what it sends while a write is not
 * durable, so an earlier delivery would delay the last bytes, and the first bytes of other runs.
 */
export function deliveryDelayMs(nowMs: number): number {
  return MAX_DELIVERY_DELAY_MS - (nowMs % SHARE_MS);
}

/** Deadlines of a run that is claimed now; they are stored with the claim. */
export function firstDeadlines(nowMs: number): DeadlineSet<RunDeadline> {
  return { watchdog: { atMs: nowMs + WATCH_EVERY_MS } };
}

/** Sets the deadlines of a run that waits now, in place of its watchdog. */
export function setWaitDeadlines(
  run: WaitingRun,
  deadlines: RunDeadlines,
  { awaitsPeople, outcomeUntilMs, retryAtMs, nowMs }: WaitReasons & { readonly nowMs: number },
): void {
  deadlines.clear("watchdog");
  if (awaitsPeople) deadlines.pause("wall_clock", nowMs);
  if (outcomeUntilMs !== undefined) deadlines.set("outcome", outcomeUntilMs);
  if (retryAtMs !== undefined) deadlines.set("retry", retryAtMs);
  awaitApprovals(run, deadlines);
  deadlines.arm({ exactly: true });
}

/** Sets a deadline for the earliest expiry of the open approvals, while the run waits. */
export function awaitApprovals({ approvals, store }: WaitingRun, deadlines: RunDeadlines): void {
  const expiries = approvals.pending().map(({ expiresAtMs }) => expiresAtMs);
  if (expiries.length === 0 || !store.incarnations().isWaiting) return;
  deadlines.set("approval", Math.min(...expiries));
}

type WaitingRun = Pick<OpenRun, "approvals" | "store">;

/** Deadlines after the end of a run: those of its deletion, and of what is not delivered yet. */
export function finalDeadlines(
  { store, outbox }: Pick<OpenRun, "store" | "outbox">,
  { lifetimes, nowMs }: Pick<Env, "lifetimes"> & { readonly nowMs: number },
): Required<DeadlineChange<RunDeadline>> {
  const endedMs = store.progress().endedMs ?? nowMs;
  const { runMs, keyMs, conversationMs } = lifetimes;
  const claimed = store.claimed();
  const isFirst = claimed !== undefined && claimed.workflowId === undefined && !claimed.call;
  return {
    clear: ["watchdog", "wall_clock", "outcome", "approval", "retry"],
    add: {
      ...(!outbox.isEmpty() && { outbox: { atMs: nowMs } }),
      // A run that has shrunk has no evidence left.
      ...(claimed && { retention: { atMs: endedMs + runMs } }),
      forget: { atMs: endedMs + Math.max(runMs, keyMs, isFirst ? conversationMs : 0) },
    },
  };
}

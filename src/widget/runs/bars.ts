import { say } from "../texts/say.ts";
import type { RunTrace, TracedApproval, TracedCall } from "../../protocol/run/trace.ts";

/** What a run did in a span of time. Unit: Unix milliseconds. */
export interface Span {
  readonly kind: "model" | "call" | "people" | "tool";
  readonly fromMs: number;
  readonly toMs: number;
}

/** One line of the timeline. */
export interface Bar {
  readonly name: string;
  readonly spans: readonly Span[];
  /** Present in the line of a call. */
  readonly call?: TracedCall;
}

/**
 * Lists the lines of the timeline: for each step its model, then its calls. Of a model call the run
 * stores no time: it lies between the calls before it and those that it asked for.
 * Contract: pure. `nowMs` ends what is open.
 */
export function barsOf(
  { run, steps, calls, approvals }: Pick<RunTrace, "run" | "steps" | "calls" | "approvals">,
  nowMs: number,
): readonly Bar[] {
  const endMs = msOf(run.timestamps.endedAt) ?? nowMs;
  let lastMs = msOf(run.timestamps.createdAt) ?? endMs;
  return steps.flatMap(({ step, model }) => {
    const own = calls.filter((call) => call.step === step);
    const asked = own.flatMap(({ proposedAt }) => msOf(proposedAt) ?? []);
    const answeredMs = Math.max(lastMs, Math.min(endMs, ...asked));
    const fromMs = lastMs;
    lastMs = Math.max(answeredMs, ...own.map(({ endedAt }) => msOf(endedAt) ?? endMs));
    const spans: readonly Span[] = [{ kind: "model", fromMs, toMs: answeredMs }];
    return [
      ...(run.call ? [] : [{ name: say("Step {step}: {model}", { step, model }), spans }]),
      ...own.map((call) => barOfCall(call, approvals, endMs)),
    ];
  });
}

function barOfCall(call: TracedCall, approvals: readonly TracedApproval[], endMs: number): Bar {
  const { invocationId, name, proposedAt, dispatchedAt, endedAt } = call;
  const fromMs = msOf(proposedAt) ?? endMs;
  const toMs = msOf(endedAt) ?? endMs;
  const waits = approvals
    .filter((one) => one.invocationId === invocationId)
    .map(({ requestedAt, closedAt }) => ({
      kind: "people" as const,
      fromMs: msOf(requestedAt) ?? fromMs,
      toMs: msOf(closedAt) ?? toMs,
    }));
  const begunMs = msOf(dispatchedAt);
  const ran = begunMs === undefined ? [] : [{ kind: "tool" as const, fromMs: begunMs, toMs }];
  return { name, call, spans: [{ kind: "call", fromMs, toMs }, ...waits, ...ran] };
}

/** How long people were waited for. Unit: milliseconds. */
export function waitedMs({ spans }: Bar): number {
  const waits = spans.filter(({ kind }) => kind === "people");
  return waits.reduce((sum, { fromMs, toMs }) => sum + Math.max(0, toMs - fromMs), 0);
}

/**
 * Makes the scale of a timeline: from a time to its place between 0 and 1. A span is as long as the
 * root of its duration, so that a minute of work is seen beside a day of waiting.
 */
export function scaleOf(bars: readonly Bar[]): (atMs: number) => number {
  const instants = bars.flatMap(({ spans }) => spans.flatMap(({ fromMs, toMs }) => [fromMs, toMs]));
  const sorted = [...new Set(instants)].toSorted((a, b) => a - b);
  const places = new Map<number, number>();
  let reached = 0;
  sorted.forEach((atMs, at) => {
    reached += Math.sqrt(atMs - (sorted[at - 1] ?? atMs));
    places.set(atMs, reached);
  });
  return (atMs) => (reached === 0 ? 0 : (places.get(atMs) ?? 0) / reached);
}

function msOf(at: string | undefined): number | undefined {
  const ms = Date.parse(at ?? "");
  return Number.isNaN(ms) ? undefined : ms;
}

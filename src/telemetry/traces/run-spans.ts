import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import type { AiEvent } from "../../protocol/run/event.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import { callAttributes, chatAttributes, runAttributes, waitAttributes } from "./conventions.ts";
import type { TracedStep } from "./conventions.ts";
import { describeCalls } from "./describe-calls.ts";
import type { RunTrace } from "./run-trace.ts";
import { CLIENT, INTERNAL, type Span } from "./span.ts";
import type { TracedCall, TracedRun } from "./traced-run.ts";

/** More spans than a collector takes at once. The first ones stay. */
const MAX_SPANS = 1_000;
/** Requests of one call that have a span. */
const MAX_REQUESTS = 2 ** 16;

/**
 * Tells a run as spans: the run, each answer of a model, each call, and each wait for people.
 * Contract: pure. No span holds arguments, output, text of a
 * conversation or the name of a person, but for the fields that a contract names.
 */
export function spansOfRun(run: TracedRun, trace: RunTrace): readonly Span[] {
  const calls = describeCalls(run);
  const steps = run.isCall ? [] : spansOfSteps(run, trace);
  const ofCalls = run.calls.flatMap((record, at) => {
    const call = calls[at];
    return call ? spansOfCall(run, trace, { record, call }) : [];
  });
  return [spanOfRun(run, trace), ...steps, ...ofCalls].slice(0, MAX_SPANS);
}

function spanOfRun(run: TracedRun, { spanId, parentId, undoneId }: RunTrace): Span {
  const { createdMs: startMs, endedMs: endMs, assistantId } = run;
  return {
    id: spanId("run"),
    parentId,
    linkedId: undoneId,
    name: ["invoke_agent", assistantId].join(" ").trim(),
    kind: INTERNAL,
    startMs,
    endMs,
    attributes: runAttributes(run),
  };
}

/**
 * One span a step, from the end of what came before it to the calls that its answer asked for. So a
 * span holds what a step waited for its model, retries and fallbacks included. Steps between which
 * no call ended share a span of time.
 */
function spansOfSteps(run: TracedRun, { spanId }: RunTrace): readonly Span[] {
  const ofStep = Map.groupBy(run.calls, ({ step }) => step);
  const spans: Span[] = [];
  let startMs = run.createdMs;
  for (const step of readSteps(run)) {
    const calls = ofStep.get(step.step) ?? [];
    const endMs = Math.min(run.endedMs, ...calls.map(({ askedAtMs }) => askedAtMs));
    spans.push({
      id: spanId("chat", step.step),
      parentId: spanId("run"),
      name: `chat ${run.modelOf(step.model)?.name ?? step.model}`,
      kind: CLIENT,
      startMs,
      endMs,
      attributes: chatAttributes(step, run),
    });
    startMs = Math.max(startMs, ...calls.map(({ end }) => end?.endedAtMs ?? run.endedMs));
  }
  return spans;
}

/** The types of the events that tell of steps. */
export const STEP_EVENTS: ReadonlySet<AiEvent["type"]> = new Set([
  "step_started",
  "model_changed",
  "step_finished",
]);

function readSteps({ events, model }: TracedRun): readonly TracedStep[] {
  const steps = new Map<number, TracedStep>();
  let [current, answering] = [0, model];
  for (const event of events) {
    if (event.type === "step_started") current = event.step;
    else if (event.type === "model_changed") answering = event.to;
    else if (event.type !== "step_finished") continue;
    const { finish, usage } = event.type === "step_finished" ? event : {};
    const ended = finish && usage && { finish, usage };
    if (current > 0) steps.set(current, { step: current, model: answering, ...ended });
  }
  return [...steps.values()];
}

interface DescribedCall {
  readonly record: ToolInvocationRecord;
  readonly call: TracedCall;
}

/** A call of a saga is part of the call of its saga. */
function spansOfCall(
  run: TracedRun,
  { spanId }: RunTrace,
  { record, call }: DescribedCall,
): readonly Span[] {
  const { part, number, saga, end } = record;
  const ofSaga = saga && run.calls.find((other) => other.number === saga.number);
  const id = spanId("call", part);
  const waits = [...call.requests.map(toWait), ...outcomeWait(run, record)];
  const startMs = Math.min(
    end?.startedAtMs ?? record.askedAtMs,
    ...waits.map((wait) => wait.startMs),
  );
  return [
    {
      id,
      parentId: ofSaga ? spanId("call", ofSaga.part) : spanId("run"),
      name: `execute_tool ${call.toolName}`,
      kind: INTERNAL,
      startMs,
      endMs: end?.endedAtMs ?? run.endedMs,
      attributes: callAttributes(record, call),
    },
    ...waits.map((wait): Span => ({
      startMs: wait.startMs,
      endMs: wait.endMs ?? run.endedMs,
      attributes: wait.attributes,
      id: spanId("wait", number * MAX_REQUESTS + wait.generation),
      parentId: id,
      name: "await_people",
      kind: INTERNAL,
    })),
  ];
}

interface Wait extends Pick<Span, "startMs" | "attributes"> {
  readonly generation: number;
  /** Absent: the run ended meanwhile. */
  readonly endMs?: number | undefined;
}

function toWait(request: ApprovalRecord): Wait {
  const { id: approvalId, generation, asks = "approval", status } = request;
  const attributes = waitAttributes({ approvalId, asks, status });
  return { generation, startMs: request.askedAtMs, endMs: request.closedAtMs, attributes };
}

/** Operators were asked for an unknown outcome; requests count from 1. */
function outcomeWait(
  { outcomeWaitMs }: TracedRun,
  { awaitedUntilMs, resolution }: ToolInvocationRecord,
): readonly Wait[] {
  if (awaitedUntilMs === undefined) return [];
  const startMs = awaitedUntilMs - outcomeWaitMs;
  const attributes = waitAttributes({ asks: "outcome", status: resolution?.outcome });
  return [{ generation: 0, startMs, endMs: resolution?.atMs, attributes }];
}

import {
  type CollectorAnswer,
  readCollector,
  sendSpans,
} from "./adapters/telemetry/otlp-collector.ts";
import { SpanBatches } from "./adapters/telemetry/span-batches.ts";
import { sendRequest } from "./adapters/platform/system.ts";
import type { FollowedRun, RunTraces, SendingPorts, TraceParts } from "./compose/deployment.ts";
import { requireModels } from "./compose/models.ts";
import { composeFingerprints, composeLog } from "./compose/run.ts";
import { requireEnv } from "./env.ts";
import { WRAPPER_VERSION } from "./protocol/audit/entry.ts";
import type { AiEvent } from "./protocol/run/event.ts";
import { seriesOf } from "./protocol/metric/measures.ts";
import { fingerprintsOf } from "./run/outgoing-hashes.ts";
import type { Run } from "./run/run.ts";
import type { ClaimedRun } from "./run/stored-run.ts";
import {
  formatTraceparent,
  readTraceparent,
  type RunTrace,
  type TracedClaim,
  traceOf,
} from "./telemetry/traces/run-trace.ts";
import { spansOfRun, STEP_EVENTS } from "./telemetry/traces/run-spans.ts";
import { toOtlpJson, toSpansJson } from "./telemetry/traces/span.ts";
import type { TracedRun } from "./telemetry/traces/traced-run.ts";

/** How long after the end of a run its spans are sent again. */
const GIVE_UP_MS = 15 * 60_000;
/** Bounds of the delay. Between them, the delay is the time since the run ended. */
const MIN_DELAY_MS = 5_000;
const MAX_DELAY_MS = 5 * 60_000;
/** A sending that takes longer has died. */
const MAX_SENDING_MS = 10_000;

const parts: TraceParts = {
  problemsOf(raw) {
    try {
      readCollector(raw);
      return [];
    } catch (problem) {
      return [(problem as Error).message];
    }
  },
  readTrace: readTraceparent,
  follow({ claim, journal }, { model, egress }) {
    const { trace } = begin(claim, journal);
    return {
      model: {
        stream(request, signal) {
          const step = journal.steps;
          const traceparent = trace.then(({ traceId, spanId }) =>
            formatTraceparent(traceId, step > 0 ? spanId("chat", step) : spanId("run")),
          );
          return model.stream({ ...request, traceparent }, signal);
        },
      },
      egress: {
        ...egress,
        bind(grant) {
          const client = egress.bind(grant);
          return {
            async send(request) {
              const { traceId, spanId } = await trace;
              const traceparent = formatTraceparent(traceId, spanId("call", grant.part));
              return client.send({ ...request, headers: { ...request.headers, traceparent } });
            },
          };
        },
      },
    };
  },
  async send(run, ports) {
    sendings.set(run, "begun");
    let againAtMs: number | undefined;
    try {
      againAtMs = await sendRun(run, ports);
    } catch (thrown) {
      composeLog().fault("traces_dropped", thrown, { runId: run.store.identity().runId });
      drop(run, ports);
    }
    if (againAtMs === undefined) ports.deadlines.clear("traces");
    else ports.deadlines.set("traces", againAtMs);
    sendings.set(run, "over");
  },
  plan(run, { clock, deadlines }) {
    const sending = sendings.get(run);
    if (sending === "over") return;
    deadlines.set("traces", clock.nowMs() + (sending === "begun" ? MAX_SENDING_MS : 0));
  },
};

const batches = new SpanBatches();

/** What is known of a run in memory by its journal, so that nothing is read or hashed twice. */
const followed = new WeakMap<object, Followed>();

interface Followed {
  readonly trace: Promise<RunTrace>;
  /** The events that tell of its steps. Absent: an earlier incarnation saw some of them. */
  readonly events?: AiEvent[];
}

function begin(claim: TracedClaim, journal: FollowedRun["journal"]): Followed {
  const known = followed.get(journal);
  if (known) return known;
  const trace = traceOf(claim);
  if (journal.steps > 0) return { trace };
  const events: AiEvent[] = [];
  journal.observe((event) => {
    if (STEP_EVENTS.has(event.type)) events.push(event);
  });
  followed.set(journal, { trace, events });
  return { trace, events };
}

/** How far the sending of spans is, by run in memory. One that is over has set its deadline. */
const sendings = new WeakMap<Run, "begun" | "over">();

/**
 * Tells each run of a deployment as spans to a collector that speaks OTLP/HTTP, once the run has
 * ended: the option `traces`. A deployment without it carries none of its code.
 */
export const otlpTraces: RunTraces = { parts };

async function sendRun(run: Run, ports: SendingPorts): Promise<number | undefined> {
  const { env, clock, deadlines } = ports;
  const claim = run.store.claimed();
  // A run that has shrunk has nothing left to tell.
  if (!claim) return drop(run, ports, "forgotten");
  const traced = await readRun(run, claim, ports);
  const collector = readCollector(env);
  const trace = await (followed.get(run.journal)?.trace ?? traceOf(claim));
  const spans = toSpansJson(trace.traceId, spansOfRun(traced, trace));
  const post = (batch: readonly string[]): Promise<CollectorAnswer> => {
    const body = toOtlpJson(batch, { service: collector.service, version: WRAPPER_VERSION });
    return sendSpans(collector, body, { clock, fetch: sendRequest });
  };
  // What did not arrive at once is sent alone.
  const isRepeated = deadlines.has("traces");
  const answer = await (isRepeated ? post([spans]) : batches.send(spans, { clock, post }));
  if (answer === "taken") return undefined;
  const nowMs = clock.nowMs();
  const sinceMs = nowMs - traced.endedMs;
  if (answer === "refused" || sinceMs > GIVE_UP_MS) return drop(run, ports, answer);
  return nowMs + Math.min(Math.max(sinceMs, MIN_DELAY_MS), MAX_DELAY_MS);
}

/** Gives up the spans of a run, and counts it. */
function drop(run: Run, { deployment }: SendingPorts, reason?: string): undefined {
  const { runId, owner } = run.store.identity();
  if (reason !== undefined) {
    const { tenantId } = owner;
    composeLog().write({ level: "warn", code: "traces_dropped", tenantId, runId, reason });
  }
  if (!deployment.metrics) return;
  run.outbox.notify({ type: "measures", measures: { [seriesOf("traces")]: { dropped: 1 } } });
}

/** Reads what a run stored, as far as its spans tell of it. */
async function readRun(
  run: Run,
  claim: ClaimedRun,
  { env, deployment }: SendingPorts,
): Promise<TracedRun> {
  const { store, invocations, approvals, journal } = run;
  const { runId, principal, workflowId = runId, assistant, ownModel, ownFallbacks = [] } = claim;
  const { reason, error, usage, endedMs } = store.progress();
  const { createdMs } = store.identity();
  const calls = invocations.all();
  const hashOf = fingerprintsOf(store, () => composeFingerprints(env));
  const hashes = calls.map(async ({ number, binding }) =>
    binding?.mutates ? [[number, await hashOf(binding.idempotencyKey)] as const] : [],
  );
  const { models } = requireModels(env, deployment);
  const own = [ownModel, ...ownFallbacks];
  return {
    runId,
    tenantId: principal.tenantId,
    conversationId: workflowId,
    assistantId: assistant?.id,
    model: claim.model,
    isCall: claim.call !== undefined,
    createdMs,
    endedMs: endedMs ?? createdMs,
    reason: reason ?? "error",
    error,
    usage,
    interruptions: store.incarnations().epoch,
    events: followed.get(journal)?.events ?? journal.events(),
    calls,
    approvals: approvals.all(),
    outcomeWaitMs: requireEnv(env).lifetimes.outcomeMs,
    modelOf: (id) => models.get(id) ?? own.find((model) => model?.id === id),
    toolOf(name, version) {
      const found = deployment.contracts.filter(({ spec }) => spec.name === name);
      const { contract } = found.find(({ spec }) => spec.version === version) ?? found[0] ?? {};
      return contract && { ...contract, ...contract.observability };
    },
    keyHashes: new Map((await Promise.all(hashes)).flat()),
  };
}

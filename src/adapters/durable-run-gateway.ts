import type {
  ApprovalAnswer,
  ApprovalQuery,
  Decision,
  DecisionAnswer,
  OutcomeAnswer,
  OutcomeReport,
  RunAnswer,
  RunGateway,
  SteerAnswer,
  Steering,
  TranscriptAnswer,
} from "../capabilities/run-gateway.ts";
import { formatEventId } from "../protocol/event-id.ts";
import type { RunId } from "../protocol/ids.ts";

/** What a run's object answers besides `fetch`. */
interface RunMethods {
  state(): Promise<RunAnswer>;
  cancel(): Promise<RunAnswer>;
  steer(steering: Steering): Promise<SteerAnswer>;
  settle(report: OutcomeReport): Promise<OutcomeAnswer>;
  transcript(): Promise<TranscriptAnswer>;
  approval(query: ApprovalQuery): Promise<ApprovalAnswer>;
  decide(query: ApprovalQuery, decision: Decision): Promise<DecisionAnswer>;
}

/** Reaches each run's Durable Object by the run's id. */
export function createDurableRunGateway(runs: DurableObjectNamespace): RunGateway {
  const objectOf = (runId: RunId): DurableObjectStub & RunMethods =>
    runs.get(runs.idFromName(runId)) as DurableObjectStub & RunMethods;
  return {
    start: (claim) =>
      objectOf(claim.runId).fetch("https://run/start", {
        method: "POST",
        body: JSON.stringify(claim),
      }),
    repeat: (runId, requestHash) =>
      objectOf(runId).fetch("https://run/repeat", { headers: { "x-request-hash": requestHash } }),
    events(runId, after) {
      const headers = new Headers();
      if (after) headers.set("last-event-id", formatEventId(after));
      return objectOf(runId).fetch("https://run/events", { headers });
    },
    state: (runId) => objectOf(runId).state(),
    cancel: (runId) => objectOf(runId).cancel(),
    steer: (runId, steering) => objectOf(runId).steer(steering),
    settle: (runId, report) => objectOf(runId).settle(report),
    transcript: (runId) => objectOf(runId).transcript(),
    approval: (runId, query) => objectOf(runId).approval(query),
    decide: (runId, query, decision) => objectOf(runId).decide(query, decision),
  };
}

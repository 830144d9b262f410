import type {
  ApprovalAnswer,
  ApprovalQuery,
  Decision,
  DecisionAnswer,
  OutcomeAnswer,
  OutcomeReport,
  RunAnswer,
  RunGateway,
  RunReader,
  SteerAnswer,
  Steering,
  TranscriptAnswer,
} from "../capabilities/run.ts";
import { formatEventId } from "../protocol/run/event-id.ts";
import type { RunId } from "../protocol/identity/ids.ts";
import type { Viewer } from "../protocol/identity/viewer.ts";

/** What a run's object answers besides `fetch`. */
interface RunMethods {
  state(viewer: Viewer): Promise<RunAnswer>;
  cancel(viewer: Viewer): Promise<RunAnswer>;
  steer(viewer: Viewer, steering: Steering): Promise<SteerAnswer>;
  settle(viewer: Viewer, report: OutcomeReport): Promise<OutcomeAnswer>;
  transcript(viewer: Viewer): Promise<TranscriptAnswer>;
  approval(query: ApprovalQuery): Promise<ApprovalAnswer>;
  decide(query: ApprovalQuery, decision: Decision): Promise<DecisionAnswer>;
}

/** Reaches each run's Durable Object by the run's id. */
export function createDurableRunGateway(runs: DurableObjectNamespace): RunGateway {
  const objectOf = (runId: RunId): DurableObjectStub & RunMethods =>
    runs.get(runs.idFromName(runId)) as DurableObjectStub & RunMethods;
  return {
    start: (claim, wire) =>
      objectOf(claim.runId).fetch("https://run/start", {
        method: "POST",
        headers: { "x-wire": wire },
        body: JSON.stringify(claim),
      }),
    repeat(runId, reader, requestHash) {
      const headers = { ...headersOf(reader), "x-request-hash": requestHash };
      return objectOf(runId).fetch("https://run/repeat", { headers });
    },
    events(runId, reader, after) {
      const headers = new Headers(headersOf(reader));
      if (after) headers.set("last-event-id", formatEventId(after));
      return objectOf(runId).fetch("https://run/events", { headers });
    },
    state: (runId, viewer) => objectOf(runId).state(viewer),
    cancel: (runId, viewer) => objectOf(runId).cancel(viewer),
    steer: (runId, viewer, steering) => objectOf(runId).steer(viewer, steering),
    settle: (runId, viewer, report) => objectOf(runId).settle(viewer, report),
    transcript: (runId, viewer) => objectOf(runId).transcript(viewer),
    approval: (runId, query) => objectOf(runId).approval(query),
    decide: (runId, query, decision) => objectOf(runId).decide(query, decision),
  };
}

function headersOf({ viewer, wire }: RunReader): Record<string, string> {
  return { "x-viewer": JSON.stringify(viewer), "x-wire": wire };
}

import type { RunGateway, TranscriptAnswer } from "../capabilities/run-gateway.ts";
import { formatEventId } from "../protocol/event-id.ts";
import type { RunId } from "../protocol/ids.ts";
import type { RunState } from "../protocol/run-state.ts";

/** Methods that a run's object answers besides `fetch`. */
interface RunStub {
  fetch(url: string, init?: RequestInit): Promise<Response>;
  state(): Promise<RunState | undefined>;
  cancel(): Promise<RunState | undefined>;
  transcript(): Promise<TranscriptAnswer>;
}

/** Reaches each run's Durable Object by the run's id. */
export function createDurableRunGateway(runs: DurableObjectNamespace): RunGateway {
  const stub = (runId: RunId): RunStub => runs.get(runs.idFromName(runId)) as unknown as RunStub;
  return {
    start: (claim) =>
      stub(claim.runId).fetch("https://run/start", {
        method: "POST",
        body: JSON.stringify(claim),
      }),
    events(runId, after) {
      const headers = new Headers();
      if (after) headers.set("last-event-id", formatEventId(after));
      return stub(runId).fetch("https://run/events", { headers });
    },
    state: (runId) => stub(runId).state(),
    cancel: (runId) => stub(runId).cancel(),
    transcript: (runId) => stub(runId).transcript(),
  };
}

import type {
  EventsAnswer,
  RunGateway,
  RunObjectMethods,
  RunReader,
  StartAnswer,
} from "../../capabilities/run.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
import { formatEventId } from "../../protocol/run/event-id.ts";
import { ANSWER_KIND_HEADER, EVENTS_KINDS, START_KINDS } from "../../protocol/run/answer-kind.ts";

/**
 * Reaches each run's Durable Object by the run's id: typed RPC, and `fetch` for event streams
 * alone.
 * Fails: throws when the object cannot be reached, or answers what this code does not know.
 */
export function createDurableRunGateway(runs: DurableObjectNamespace): RunGateway {
  const objectOf = (runId: RunId): DurableObjectStub & RunObjectMethods =>
    runs.get(runs.idFromName(runId)) as ReturnType<typeof objectOf>;
  return {
    async start(claim, wire) {
      const init = { method: "POST", headers: { "x-wire": wire }, body: JSON.stringify(claim) };
      return readStart(await objectOf(claim.runId).fetch("https://run/start", init));
    },
    async invoke(claim) {
      return objectOf(claim.runId).invoke(claim);
    },
    async repeat(runId, reader, requestHash) {
      const headers = { ...headersOf(reader), "x-request-hash": requestHash };
      return readStart(await objectOf(runId).fetch("https://run/repeat", { headers }));
    },
    async events(runId, reader, after) {
      const headers = new Headers(headersOf(reader));
      if (after) headers.set("last-event-id", formatEventId(after));
      return readEvents(await objectOf(runId).fetch("https://run/events", { headers }));
    },
    of: objectOf,
  };
}

function headersOf({ viewer, wire }: RunReader): Record<string, string> {
  return { "x-viewer": JSON.stringify(viewer), "x-wire": wire };
}

function readStart(response: Response): StartAnswer {
  const kind = kindOf(response, START_KINDS);
  return kind === "stream" ? { kind, response: streamOf(response) } : { kind };
}

function readEvents(response: Response): EventsAnswer {
  const kind = kindOf(response, EVENTS_KINDS);
  return kind === "stream" ? { kind, response: streamOf(response) } : { kind };
}

function kindOf<Kind extends string>({ headers }: Response, kinds: readonly Kind[]): Kind {
  const named = headers.get(ANSWER_KIND_HEADER);
  const kind = kinds.find((name) => name === named);
  if (kind === undefined) throw new Error(`a run answered ${named}`);
  return kind;
}

/** Takes the header of the object off; the body stays the platform's own stream. */
function streamOf(response: Response): Response {
  const stream = new Response(response.body, response);
  stream.headers.delete(ANSWER_KIND_HEADER);
  return stream;
}

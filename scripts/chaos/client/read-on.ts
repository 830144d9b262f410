import { sleep } from "../sleep.ts";
import { readWhole, type Target } from "./target.ts";

/** Longest time that a reader may need for one run. Unit: milliseconds. */
const PATIENCE_MS = 60_000;

/** Opens the events of a run after an id. Undefined while the deployment does not answer. */
export async function openEvents(
  { url, token }: Target,
  runId: string,
  lastEventId: string | undefined,
): Promise<Response | undefined> {
  try {
    return await fetch(`${url}/v1/runs/${runId}/events`, {
      headers: {
        authorization: `Bearer ${token}`,
        ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
      },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
  } catch {
    return undefined;
  }
}

/**
 * Reads the events of a run to their end. After each break it resumes with the id of the last whole
 * event.
 * Fails: throws when the stream does not end in time.
 */
export async function readOn(target: Target, runId: string, opened?: Response): Promise<string> {
  const deadlineMs = Date.now() + PATIENCE_MS;
  let text = "";
  let answer = opened;
  while (Date.now() < deadlineMs) {
    answer ??= await openEvents(target, runId, lastIdOf(text));
    if (answer?.status === 200 && answer.body) {
      const read = await readWhole(answer.body, () => Promise.resolve());
      text += wholeEvents(read.text);
      if (read.isWhole) return text;
    } else await answer?.arrayBuffer().catch(() => undefined);
    answer = undefined;
    await sleep(50);
  }
  throw new Error(`the events of ${runId} did not end`);
}

/** Drops an event that broke off; the whole event arrives after the reconnection. */
function wholeEvents(text: string): string {
  const id = text.lastIndexOf("\nid: ");
  const end = text.indexOf("\n\n", id);
  if (id === -1) return "";
  return end === -1 ? wholeEvents(text.slice(0, id)) : text.slice(0, end + 2);
}

function lastIdOf(text: string): string | undefined {
  const id = text.lastIndexOf("\nid: ");
  return id === -1 ? undefined : text.slice(id + "\nid: ".length, text.indexOf("\n\n", id));
}

import { expect } from "vitest";
import {
  COLLECTOR,
  type Status,
  type ReceivedSpans,
  type TracedRequest,
} from "../fakes/collector.ts";
import { readOtlp, type ReadSpan } from "./otlp.ts";

/** Everything that the collector got in this file. */
const received: ReceivedSpans[] = [];
const traced: TracedRequest[] = [];

async function collect(): Promise<void> {
  const answer = await fetch(COLLECTOR);
  const came = await answer.json<{ received: ReceivedSpans[]; traced: TracedRequest[] }>();
  received.push(...came.received);
  traced.push(...came.traced);
}

/** Sets what the collector answers. */
export async function answerSpans(status: Status): Promise<void> {
  await fetch(COLLECTOR, { method: "PUT", body: `${status}` });
}

/** Returns the requests with the spans of a run, as they came. */
export async function sentOf(runId: string): Promise<readonly ReceivedSpans[]> {
  await collect();
  return received.filter(({ text }) => text.includes(runId));
}

/** Waits until the collector has got the spans of a run, and reads them strictly. */
export async function spansOf(runId: string): Promise<readonly ReadSpan[]> {
  await expect.poll(async () => (await sentOf(runId)).length).toBeGreaterThan(0);
  const [sent] = await sentOf(runId);
  return readOtlp(sent?.text ?? "").spans;
}

/** Returns which traces the Worker named to a host, oldest first. */
export async function namedTo(host: string): Promise<readonly TracedRequest[]> {
  await collect();
  return traced.filter((one) => one.host === host);
}

import { expect, test } from "vitest";
import type { CollectorAnswer } from "../../../src/adapters/telemetry/otlp-collector.ts";
import { SpanBatches } from "../../../src/adapters/telemetry/span-batches.ts";
import { FakeClock } from "../../../src/testing/time/fake-clock.ts";

/** A collector that notes each request. */
function collect(answer: CollectorAnswer) {
  const clock = new FakeClock();
  const requests: (readonly string[])[] = [];
  const batches = new SpanBatches();
  const post = (spans: readonly string[]): Promise<CollectorAnswer> => {
    requests.push(spans);
    return Promise.resolve(answer);
  };
  /** The object of the run dies at once, and its timers with it. */
  const die = (spans: string): void => {
    const dead = { nowMs: () => clock.nowMs(), schedule: () => () => {} };
    void batches.send(spans, { clock: dead, post });
  };
  const send = (spans: string): Promise<CollectorAnswer> => batches.send(spans, { clock, post });
  return { clock, requests, send, die };
}

/** Every wait of a batch is a multiple of it. */
const STEP_MS = 50;

/** Lets so much time pass, and what follows from it happen. */
async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP_MS) {
    clock.advance(STEP_MS);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

test("runs that end at the same time share a request, and each hears of its answer", async () => {
  const { clock, requests, send } = collect("taken");
  const sent = ["a", "b", "c"].map(send);
  await pass(clock, 500);
  expect([await Promise.all(sent), requests]).toEqual([
    ["taken", "taken", "taken"],
    [["a", "b", "c"]],
  ]);
  const later = send("d");
  await pass(clock, 250);
  expect([await later, requests[1]]).toEqual(["taken", ["d"]]);
});

test("runs that wait for the same answer look for it in the same moment", async () => {
  const { clock, requests, send } = collect("away");
  const looked: Promise<number>[] = [];
  for (let run = 0; run < 5; run++) {
    looked.push(send(`${run}`).then(() => clock.nowMs()));
    await pass(clock, STEP_MS);
  }
  await pass(clock, 500);
  const [posted, ...others] = await Promise.all(looked);
  expect(new Set(others)).toEqual(new Set([(posted ?? NaN) + 100]));
  expect(requests).toHaveLength(1);
});

test("large spans do not share a request", async () => {
  const { clock, requests, send } = collect("taken");
  const sent = ["a".repeat(200_000), "b".repeat(200_000)].map(send);
  await pass(clock, 500);
  await Promise.all(sent);
  expect(requests.map(({ length }) => length)).toEqual([1, 1]);
});

test("a batch that is refused is sent again, each run alone", async () => {
  const { clock, send } = collect("refused");
  const sent = ["a", "b"].map(send);
  await pass(clock, 500);
  expect(await Promise.all(sent)).toEqual(["away", "away"]);
  const alone = send("c");
  await pass(clock, 250);
  expect(await alone).toBe("refused");
});

test("where the object that sends a batch dies, the others send again, and later runs go on", async () => {
  const { clock, requests, send, die } = collect("taken");
  die("dies");
  const other = send("other");
  await pass(clock, 5_500);
  expect(await other).toBe("away");
  const later = send("later");
  await pass(clock, 250);
  expect([await later, requests]).toEqual(["taken", [["later"]]]);
});

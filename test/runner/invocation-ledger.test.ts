import { describe, expect, test } from "vitest";
import type { InvocationEnd } from "../../src/protocol/invocation/record.ts";
import { InvocationLedger } from "../../src/runner/invocation/invocation-ledger.ts";
import { MemoryJournal } from "../../src/testing/memory/memory-journal.ts";

const call = (id: string, argumentsText = "{}") => ({
  toolCallId: id as never,
  name: "tool",
  argumentsText,
  truncated: false,
});
const at = (id: string, step = 1) => ({ step, toolCallId: id as never });
const binding = (idempotencyKey = "key") => ({
  version: "1.0.0",
  payloadHash: "sha256:payload",
  idempotencyKey,
  mutates: true,
  dataClass: "internal" as const,
  owner: "test",
  shownArgs: {},
});
const END = { startedAtMs: 1, endedAtMs: 2 } as InvocationEnd;

/** Reserves three calls in two steps, in this order. */
function open(journal = new MemoryJournal()) {
  const ledger = new InvocationLedger(journal, []);
  ledger.admit(call("b"), { step: 1, part: 0 }, 7);
  ledger.admit(call("a"), { step: 1, part: 1 }, 7);
  ledger.admit(call("b"), { step: 2, part: 2 }, 8);
  return { ledger, journal };
}

test("records are numbered from 1 across all steps, in the order of the calls", () => {
  const { journal } = open();
  expect(journal.records.map(({ number, step, toolCallId }) => [number, step, toolCallId])).toEqual(
    [
      [1, 1, "b"],
      [2, 1, "a"],
      [3, 2, "b"],
    ],
  );
});

test("the same call id in another step is another operation", () => {
  const { ledger } = open();
  expect(() => ledger.admit(call("a"), { step: 1, part: 3 }, 9)).toThrow("is admitted");
  expect(() => ledger.admit(call("a"), { step: 2, part: 3 }, 9)).not.toThrow();
});

test("the next incarnation continues the numbers and the order of the records", () => {
  const { journal } = open();
  const next = new InvocationLedger(journal, journal.records);
  expect(next.admit(call("c"), { step: 2, part: 3 }, 9).number).toBe(4);
  expect(next.ofStep(1).map(({ toolCallId }) => toolCallId)).toEqual(["b", "a"]);
  expect(next.ofStep(2).map(({ toolCallId }) => toolCallId)).toEqual(["b", "c"]);
  expect(next.ofStep(3)).toEqual([]);
});

test("loading stored records writes nothing", () => {
  const { journal } = open();
  const again = new MemoryJournal();
  void new InvocationLedger(again, journal.records);
  expect(again.records).toEqual([]);
});

test("a step lists the newest version of each record", () => {
  const { ledger } = open();
  ledger.bind(at("a"), binding());
  ledger.dispatch(at("a"), 1);
  expect(ledger.ofStep(1).map(({ dispatches }) => dispatches)).toEqual([0, 1]);
});

test("an operation keeps its first binding, and is refused under any other key", () => {
  const { ledger } = open();
  expect(ledger.bind(at("a"), binding()).ok).toBe(true);
  expect(ledger.bind(at("a"), binding()).ok).toBe(true);
  expect(ledger.bind(at("a"), binding("other"))).toMatchObject({
    ok: false,
    failure: { taxonomyClass: "SIGNATURE_MISMATCH", errors: [{ code: "other_payload" }] },
  });
  expect(ledger.find(at("a"))?.binding?.idempotencyKey).toBe("key");
});

test("arguments longer than the parse limit are stored truncated", () => {
  const ledger = new InvocationLedger(new MemoryJournal(), []);
  const record = ledger.admit(call("a", "x".repeat(300_000)), { step: 1, part: 0 }, 7);
  expect(record.argumentsText.length).toBe(256 * 1024 + 1);
});

test("an operation without a record cannot change state", () => {
  const { ledger } = open();
  expect(() => ledger.charge(at("z"), {})).toThrow("is not admitted");
});

describe("only a dispatched operation", () => {
  test.each(["COMPLETED", "EXPIRED"] as const)("can end %s", (state) => {
    const { ledger } = open();
    ledger.bind(at("a"), binding());
    expect(() => ledger.end(at("a"), state, END)).toThrow("is not dispatched");
    ledger.dispatch(at("a"), 1);
    ledger.end(at("a"), state, END);
    expect(ledger.find(at("a"))).toMatchObject({ state, end: END });
  });

  test("can wait for an operator", () => {
    const { ledger } = open();
    expect(() => ledger.awaitOutcome(at("a"), 9)).toThrow("is not dispatched");
  });

  test("can expire, and a retracted one cannot", () => {
    const { ledger } = open();
    ledger.bind(at("a"), binding());
    ledger.dispatch(at("a"), 1);
    ledger.retract(at("a"));
    expect(() => ledger.end(at("a"), "EXPIRED", END)).toThrow("is not dispatched");
    ledger.end(at("a"), "FAILED_FINAL", END);
    expect(ledger.find(at("a"))).toMatchObject({ state: "FAILED_FINAL", dispatches: 1 });
  });
});

test.each([
  ["bind", (ledger: InvocationLedger) => ledger.bind(at("a"), binding())],
  ["charge", (ledger: InvocationLedger) => ledger.charge(at("a"), {})],
  ["dispatch", (ledger: InvocationLedger) => ledger.dispatch(at("a"), 1)],
  ["end again", (ledger: InvocationLedger) => ledger.end(at("a"), "FAILED_RETRYABLE", END)],
])("an ended operation refuses: %s", (_name, change) => {
  const { ledger, journal } = open();
  ledger.bind(at("a"), binding());
  ledger.end(at("a"), "FAILED_RETRYABLE", END);
  const before = journal.records;
  expect(() => change(ledger)).toThrow("has ended");
  expect(journal.records).toEqual(before);
  expect(ledger.open().map(({ number }) => number)).toEqual([1, 3]);
  expect(ledger.ended().map(({ number }) => number)).toEqual([2]);
});

import { expect, test } from "vitest";
import { findContradictions } from "../../scripts/chaos/verify/left-over.ts";
import type { LeftByRun } from "../../scripts/chaos/worker/left-over.ts";

const ENDED: LeftByRun = {
  alarmAtMs: 10,
  hasShrunk: false,
  deadlines: { retention: 10, forget: 20 },
  undelivered: 0,
  openApprovals: 0,
  openCalls: [],
};

const look = (changed: Partial<LeftByRun>): readonly string[] => [
  ...findContradictions({ ...ENDED, ...changed }),
];

test("an ended run keeps its retention and the alarm of it", () => {
  expect(look({})).toEqual([]);
  expect(look({ hasShrunk: true, deadlines: { forget: 20 }, alarmAtMs: 20 })).toEqual([]);
});

test.each<[Partial<LeftByRun>, string]>([
  [{ deadlines: { ...ENDED.deadlines, outbox: 30 } }, "the deadline outbox is set"],
  [{ deadlines: { retention: 10 } }, "the deadline forget is missing"],
  [{ hasShrunk: true }, "the deadline retention is set"],
  [{ undelivered: 1 }, "1 entries of the outbox are not delivered"],
  [{ openApprovals: 2 }, "2 approvals are open"],
  [{ openCalls: ["pay PENDING"] }, "the call pay PENDING has no outcome"],
  [{ alarmAtMs: null }, "the alarm is at null, not at 10"],
  [{ alarmAtMs: 5 }, "the alarm is at 5, not at 10"],
])("the chaos proof reports what an ended run still holds: %j", (changed, problem) => {
  expect(look(changed)).toEqual([problem]);
});

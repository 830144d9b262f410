import { describe, expect, it } from "vitest";
import { readOutcome, readProgress } from "../../../../src/widget/chat/answer/tool-outcome.ts";
import * as say from "../../run-events.ts";

describe("a tool's progress", () => {
  it.each([
    [{ stage: 5, done: "1", total: null }, {}],
    [{ done: 1 }, {}],
    [{ done: 1, total: 0 }, {}],
    [{ done: -5, total: 2 }, { share: 0 }],
    [{ done: 9, total: 2, attempt: 1 }, { share: 1 }],
    [
      { stage: "x".repeat(500), attempt: 2 },
      { stage: `X${"x".repeat(59)}`, attempt: 2 },
    ],
  ])("leaves inconsistent numbers out of the progress %j", (progress, shown) => {
    expect(readProgress(progress)).toEqual(shown);
  });
});

describe("a tool's outcome", () => {
  it("is an unknown outcome when the observation reports one, and not a failure", () => {
    expect(readOutcome(say.leaveUnresolved(0).observation).isUnknown).toBe(true);
    expect(readOutcome(say.failTool(0, "no").observation).isUnknown).toBe(false);
  });

  it("has a value that is not an observation as its data", () => {
    expect(readOutcome("plain").data).toBe("plain");
    expect(readOutcome({ result_payload: { errors: "no list", data: null } })).toEqual({
      data: null,
      errors: [],
      warnings: [],
      isCut: false,
      isUnknown: false,
    });
  });
});

import { call, checkPolicy, runTool, say, scriptedModel, startRun } from "interlock-edge/testing";
import { expect, test } from "vitest";
import { getOpeningHours } from "../src/tools/office/get-opening-hours.ts";
import { TOOLS } from "../src/tools/index.ts";
import policy from "../tenant/policy.json";

test("the office closes early on Friday", async () => {
  const { data } = await runTool(getOpeningHours, { day: "friday" });
  expect(data).toEqual({ opens: "09:00", closes: "15:00" });
});

test("a day on which the office is closed is refused", async () => {
  const { ok } = await runTool(getOpeningHours, { day: "sunday" } as never);
  expect(ok).toBe(false);
});

test("the policy fits the tools", () => {
  expect(checkPolicy(policy, TOOLS)).toEqual([]);
});

test("a model may ask for the opening hours", async () => {
  const run = await startRun({
    tools: TOOLS,
    policy,
    messages: "When do you open on Monday?",
    model: scriptedModel([
      call("office__get_opening_hours", { day: "monday" }),
      say("At nine o'clock."),
    ]),
  });
  expect(run.calls).toMatchObject([{ taxonomyClass: "SUCCESS" }]);
  expect(run.text).toBe("At nine o'clock.");
});

import { call, checkPolicy, person, say, scriptedModel, startRun } from "interlock-edge/testing";
import { expect, test } from "vitest";
import { TOOLS } from "../src/tools/index.ts";
import refunds from "../src/tools/desk/refund-ticket.exchanges.json";
import assignments from "../src/tools/desk/assign-ticket.exchanges.json";
import policy from "../tenant/policy.json";

const SERVICE = [...refunds.exchanges, ...assignments.exchanges];

function ask(tool: string, args: Record<string, string | number>) {
  return startRun({
    tools: TOOLS,
    policy,
    principal: person("ann"),
    messages: "Please do it.",
    http: SERVICE,
    model: scriptedModel([call(tool, args), say("Done.")]),
  });
}

test("the policy fits the tools", () => {
  expect(checkPolicy(policy, TOOLS)).toEqual([]);
});

test("a ticket is assigned when the person who asked agrees", async () => {
  const run = await ask("desk__assign_ticket", { id: "T-1", assignee: "bob" });
  expect(run.requests).toEqual([]);
  await run.approve({ by: "ann" });
  expect(run.requests).toMatchObject([{ method: "PUT", body: { assignee: "bob" } }]);
  expect(run.text).toBe("Done.");
});

test("a refund needs two others", async () => {
  const run = await ask("desk__refund_ticket", { id: "T-1", amount: 40 });
  await expect(run.approve({ by: "ann", roles: ["approver"] })).rejects.toThrow("own_request");
  await run.approve({ by: "bob", roles: ["approver"] });
  expect(run.requests).toEqual([]);
  await run.approve({ by: "eve", roles: ["approver"] });
  expect(run.requests).toHaveLength(1);
});

test("more money than the policy allows is refused before anybody is asked", async () => {
  const run = await ask("desk__refund_ticket", { id: "T-1", amount: 400 });
  expect(run.approvals).toEqual([]);
  expect(run.calls).toMatchObject([{ taxonomyClass: "BUDGET_EXHAUSTED" }]);
});

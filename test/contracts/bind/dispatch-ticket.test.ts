import { expect, test } from "vitest";
import type { DispatchTicket } from "../../../src/capabilities/tool.ts";
import { issueTicket } from "../../../src/contracts/bind/dispatch-ticket.ts";
import { registerContracts } from "../../../src/contracts/check/register.ts";
import { bindTools } from "../../../src/contracts/bind/tool-source.ts";
import { fakeRunCapabilities, fakeScope } from "../../../src/testing/fakes/fakes.ts";
import { noteTool } from "../../shared/tools.ts";

const { tool: contract, reached } = noteTool();
const source = bindTools(registerContracts([contract]), fakeRunCapabilities());
const tool = source.getBoundTool("test__note", "1.0.0");
if (!tool) throw new Error("the tool is not registered");

const call = {
  toolId: tool.id,
  version: tool.version,
  args: { text: "hi" },
  context: {} as never,
  scope: fakeScope(),
};

test("a ticket runs its tool once", async () => {
  const ticket = issueTicket(call);
  expect((await tool.performDispatched(ticket)).ok).toBe(true);
  await expect(tool.performDispatched(ticket)).rejects.toThrow("only for a call that the runner");
  expect(reached).toEqual([{ text: "hi" }]);
});

test.each<[string, unknown]>([
  ["an empty object", {}],
  ["the call itself", call],
  ["nothing", undefined],
  ["a copy of a ticket", { ...issueTicket(call) }],
])("%s is no ticket", async (_name, forged) => {
  const before = reached.length;
  await expect(tool.performDispatched(forged as DispatchTicket)).rejects.toThrow();
  expect(reached.length).toBe(before);
});

test.each<[string, object]>([
  ["another tool", { toolId: "test__other" }],
  ["another version", { version: "2.0.0" }],
])("a ticket for %s is refused", async (_name, change) => {
  const before = reached.length;
  const ticket = issueTicket({ ...call, ...change });
  await expect(tool.performDispatched(ticket)).rejects.toThrow("a ticket for");
  expect(reached.length).toBe(before);
});

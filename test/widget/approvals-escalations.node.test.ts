import { expect, it } from "vitest";
import type { Visit } from "./open-page.ts";
import type { ScriptedApi } from "./scripted-api.ts";
import { useQueue } from "./use-queue.ts";

let visit: Visit;
const openQueue = useQueue((opened) => {
  visit = opened;
}, "approvals#esc_1");
const open = (prepare?: (api: ScriptedApi) => void): Promise<void> =>
  openQueue((api) => {
    api.escalations.put("esc_1", { toolId: "<img src=x onerror=alert(1)>" });
    prepare?.(api);
  });

const entries = () => visit.page.getByRole("list", { name: "Escalations" }).getByRole("button");
const card = () => visit.page.getByRole("article");
const button = (name: string) => card().getByRole("button", { name, exact: true });
const acts = () =>
  visit.api.requestsTo(/POST .*\/escalations\//).map(({ path, body }) => [path, JSON.parse(body)]);
const refresh = () => visit.page.getByRole("button", { name: "Refresh" }).click();

it("moves a reader to the escalation that a link names, who takes it and settles it with a note", async () => {
  await open();
  for (const text of ["<img src=x onerror=alert(1)>", "user:cleo", "2 calls", "desk team"]) {
    await card().getByText(text).first().waitFor();
  }
  await card().getByText("breaks its contract").waitFor();
  await button("I take it").click();
  await card().getByText("user:me works on it.").waitFor();
  await button("Settle").click();
  await card().getByLabel("What was done?").fill("closed by hand");
  await refresh();
  expect(await card().getByLabel("What was done?").inputValue()).toBe("closed by hand");
  await button("Confirm").click();
  await card().getByText("Settled.", { exact: true }).waitFor();
  await expect.poll(() => entries().count()).toBe(0);
  expect(acts()).toEqual([
    ["/v1/escalations/esc_1", { action: "take" }],
    ["/v1/escalations/esc_1", { action: "settle", from: "user:me", note: "closed by hand" }],
  ]);
  await visit.page.getByLabel("Show", { exact: true }).last().selectOption("Settled");
  await entries().first().click();
  await card().getByText("Ended by user:me as settled").waitFor();
});

it("shows at once that another operator took an escalation, or settled it", async () => {
  await open();
  await button("I take it").waitFor();
  const bob = { state: "taken", takenBy: "user:bob", actions: ["release", "settle"] };
  visit.api.escalations.put("esc_1", bob);
  await refresh();
  await card().getByText("user:bob has just taken it.").waitFor();
  await button("I take it over").click();
  await card().getByText("user:me works on it.").waitFor();
  expect(acts()[0]).toEqual(["/v1/escalations/esc_1", { action: "take", from: "user:bob" }]);
  visit.api.escalations.put("esc_1", { state: "settled", settledBy: "user:bob", actions: [] });
  await refresh();
  await card().getByText("Somebody else settled it.").waitFor();
  expect(await button("Settle").isVisible()).toBe(false);
});

it("leaves what only a report settles to the list of outcomes, and shows a refusal in words", async () => {
  await open(({ escalations }) => {
    const actions = ["take", "report_outcome"];
    escalations.put("esc_2", { reason: "unknown_outcome", owner: "bank team", actions });
    const title = 'Send "from" to take it over.';
    escalations.onAct = () => ({ status: 409, body: { code: "escalation_held", title } });
  });
  await card().getByText("desk team").waitFor();
  expect(await entries().count()).toBe(1);
  await button("I take it").click();
  await card().getByText("Somebody else has taken the escalation.").waitFor();
});

import { expect, it } from "vitest";
import type { Visit } from "./open-page.ts";
import type { ScriptedApi } from "./scripted-api.ts";
import { useQueue } from "./use-queue.ts";

let visit: Visit;
const openQueue = useQueue((opened) => {
  visit = opened;
});
const open = (prepare?: (api: ScriptedApi) => void): Promise<void> =>
  openQueue((api) => {
    api.escalations.put("esc_1", { toolId: "<img src=x onerror=alert(1)>" });
    prepare?.(api);
  });

const section = () => visit.page.getByRole("region", { name: "Escalations" });
const button = (name: string) => section().getByRole("button", { name, exact: true });
const acts = () =>
  visit.api.requestsTo(/POST .*\/escalations\//).map(({ path, body }) => [path, JSON.parse(body)]);

it("shows what a run could not settle, and an operator takes it and settles it with a note", async () => {
  await open();
  for (const text of ["<img src=x onerror=alert(1)>", "user:cleo", "2 calls", "desk team"]) {
    await section().getByText(text).waitFor();
  }
  await section().getByText("breaks its contract").waitFor();
  await button("I take it").click();
  await section().getByText("taken by user:me").waitFor();
  await button("Settle").click();
  await section().getByLabel("What was done?").fill("closed by hand");
  await visit.page.getByRole("button", { name: "Refresh" }).click();
  expect(await section().getByLabel("What was done?").inputValue()).toBe("closed by hand");
  await button("Confirm").click();
  await section().getByText("Settled.").waitFor();
  await expect.poll(() => section().getByText("desk team").count()).toBe(0);
  expect(acts()).toEqual([
    ["/v1/escalations/esc_1", { action: "take" }],
    ["/v1/escalations/esc_1", { action: "settle", from: "user:me", note: "closed by hand" }],
  ]);
});

it("moves a reader to the escalation that a link names", async () => {
  await open();
  await visit.page.goto(`${visit.page.url().split("#")[0]}#esc_1`);
  await visit.page.reload();
  const focused = () => visit.inside<string>("(root) => root.activeElement?.id");
  await expect.poll(focused).toBe("esc_1");
});

it("leaves what only a report settles to the list of outcomes, and shows a refusal", async () => {
  await open(({ escalations }) => {
    escalations.put("esc_2", { owner: "bank team", actions: ["take", "report_outcome"] });
    const title = "Somebody else has taken the escalation.";
    escalations.onAct = () => ({ status: 409, body: { code: "escalation_held", title } });
  });
  await section().getByText("desk team").waitFor();
  expect(await section().getByText("bank team").count()).toBe(0);
  await button("I take it").click();
  await section().getByText("Somebody else has taken the escalation.").waitFor();
});

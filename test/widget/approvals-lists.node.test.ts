import { expect, it } from "vitest";
import type { Visit, VisitOptions } from "./open-page.ts";
import { fillQueue } from "./scripted-queue.ts";
import { usePage } from "./use-page.ts";

let visit: Visit;
const openPage = usePage((opened) => {
  visit = opened;
});

function open(prepare?: VisitOptions["prepare"]): Promise<void> {
  return openPage({
    at: "approvals",
    prepare: (api) => {
      fillQueue(api);
      prepare?.(api);
    },
  });
}

const OFFER = { within: "assistant", maxCalls: 9, maxSeconds: 86_400, sameFields: ["/amount"] };
const entry = (name: RegExp) =>
  visit.page.getByRole("list", { name: "Approvals" }).getByRole("button", { name });
const card = () => visit.page.getByRole("dialog");
const choice = () => card().getByLabel("This approval counts for");
const section = () => visit.page.getByRole("region", { name: "What you consented to" });
const decisions = () =>
  visit.api
    .requestsTo(/POST .*\/approvals\/.*decisions/)
    .map(({ body }) => JSON.parse(body) as object);

it("offers consent to later calls where the policy does, and asks for none by itself", async () => {
  await open(({ approvals }) => (approvals.lasting = OFFER));
  await entry(/Tag one/).click();
  await choice().waitFor();
  const options = await choice().locator("option").allTextContents();
  expect(options[0]).toBe("this call alone");
  expect(options.slice(1)).toEqual([
    expect.stringMatching(/^9 more calls like it in this conversation, until /),
    expect.stringMatching(/^9 more calls like it in all my conversations with this assistant, /),
  ]);
  await card().getByText("the same tool with the same Amount.").waitFor();
  await choice().selectOption("assistant");
  await card().getByRole("button", { name: "Approve" }).click();
  await card().getByText("Approved.").waitFor();
  // A choice is made anew at each approval.
  await entry(/Tag two/).click();
  await card().getByRole("button", { name: "Approve" }).click();
  await card().getByText("Approved.").waitFor();
  expect(decisions()).toEqual([
    { decision: "approve", lasting: { within: "assistant" } },
    { decision: "approve" },
  ]);
});

it("offers nothing with other arguments, and nothing without an offer", async () => {
  await open(({ approvals }) => (approvals.lasting = OFFER));
  await entry(/Tag one/).click();
  await choice().selectOption("conversation");
  await card().getByRole("button", { name: "Edit arguments" }).click();
  expect(await choice().isVisible()).toBe(false);
  await card().getByRole("button", { name: "Submit changed arguments" }).click();
  await expect.poll(decisions).toHaveLength(1);
  expect(decisions()[0]).not.toHaveProperty("lasting");
  visit.api.approvals.lasting = undefined;
  await entry(/Tag two/).click();
  await card().getByRole("button", { name: "Approve" }).waitFor();
  expect(await choice().isVisible()).toBe(false);
});

it("lists what the reader consented to, and takes it back", async () => {
  await open(({ consents }) => {
    consents.put("cons_1", { toolId: "<img src=x onerror=alert(1)>", conversationId: "run_1" });
    consents.put("cons_2", { state: "used_up", toolId: "desk__other" });
  });
  await section().getByText("<img src=x onerror=alert(1)>, version 1.0.0").waitFor();
  await section().getByText("in one conversation · 2 of 9 calls used").waitFor();
  expect(await section().getByText("desk__other").count()).toBe(0);
  await section().getByRole("button", { name: "Take back" }).click();
  await section().getByText("Taken back. The next call asks again.").waitFor();
  await expect.poll(() => section().getByRole("listitem").count()).toBe(0);
  expect(visit.api.requestsTo(/DELETE/).map(({ path }) => path)).toEqual(["/v1/consents/cons_1"]);
});

it("lists notifications that did not arrive, and sends one again", async () => {
  await open(({ notifications }) => {
    notifications.put("msg_1", { type: "<b>escalation</b>" });
    notifications.put("msg_2", { state: "waiting", failure: null, attempts: 0 });
  });
  const lost = visit.page.getByRole("region", { name: "Notifications that did not arrive" });
  await lost.getByText("<b>escalation</b>, since").waitFor();
  await lost.getByText("8 attempts, the last one: status_503").waitFor();
  await lost.getByText("Nobody tries again by itself.").waitFor();
  expect(await lost.getByRole("listitem").count()).toBe(1);
  await lost.getByRole("button", { name: "Send again" }).click();
  await lost.getByText("It is sent again.").waitFor();
  await expect.poll(() => lost.getByRole("listitem").count()).toBe(0);
  expect(visit.api.requestsTo(/retry/).map(({ path }) => path)).toEqual([
    "/v1/notifications/msg_1/retry",
  ]);
});

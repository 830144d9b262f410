import { expect, it } from "vitest";
import type { Visit } from "./open-page.ts";
import { createApproval, vote } from "./scripted-approvals.ts";
import { titled } from "./scripted-queue.ts";
import { useQueue } from "./use-queue.ts";

let visit: Visit;
const open = useQueue((opened) => {
  visit = opened;
});

const OFFER = { within: "assistant", maxCalls: 9, maxSeconds: 86_400, sameFields: ["/amount"] };
const entry = (name: RegExp) =>
  visit.page.getByRole("list", { name: "Approvals" }).getByRole("button", { name });
const card = () => visit.page.getByRole("dialog");
const choice = () => card().getByRole("group", { name: "This approval counts for" });
const section = () => visit.page.getByRole("region", { name: "What you consented to" });
const decisions = () =>
  visit.api
    .requestsTo(/POST .*\/approvals\/.*decisions/)
    .map(({ body }) => JSON.parse(body) as object);

it("offers consent to later calls where the policy does, and asks for none by itself", async () => {
  await open(({ approvals }) => (approvals.lasting = OFFER));
  await entry(/Tag one/).click();
  await choice().waitFor();
  const options = await choice().locator("label").allTextContents();
  expect(options[0]).toBe("this call alone");
  expect(options.slice(1)).toEqual([
    expect.stringMatching(/^it and 9 more calls like it in this conversation, until /),
    expect.stringMatching(/^it and 9 more calls like it in all my conversations with this /),
  ]);
  const same = "the same tool with the same Amount; other arguments may differ.";
  await card().getByText(`A call like it is a call of ${same}`).waitFor();
  expect(await choice().getByLabel("this call alone").isChecked()).toBe(true);
  await choice().getByLabel("in all my conversations").check();
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

it("shows each choice whole on a phone, and takes none over to the approval that follows", async () => {
  await open(({ approvals }) => (approvals.lasting = OFFER));
  await visit.page.setViewportSize({ width: 360, height: 740 });
  await entry(/Tag one/).click();
  const label = choice().getByText(/^it and 9 more calls like it in all my conversations/);
  await label.waitFor();
  const isWhole = await label.evaluate((element) => element.scrollWidth <= element.clientWidth);
  const box = await label.boundingBox();
  expect([isWhole, (box?.x ?? 0) + (box?.width ?? 999) <= 360]).toEqual([true, true]);
  await choice().getByLabel("in this conversation").check();
  const one = visit.api.approvals.get("appr_one");
  const next = createApproval({ id: "appr_one_2", packet: titled("Tag another") });
  visit.api.approvals.put(next);
  visit.api.approvals.put({ ...one, status: "superseded", supersededBy: next.id });
  await card().getByRole("button", { name: "Reject" }).click();
  await visit.page.getByRole("dialog", { name: "Tag another" }).waitFor();
  expect(await choice().getByLabel("this call alone").isChecked()).toBe(true);
});

it("says beside a vote how many more calls it consented to", async () => {
  const lasting = { within: "conversation", calls: 9, untilMs: Date.now() + 1_000 } as const;
  const votes = [{ ...vote("user:cleo", "approve"), lasting }];
  await open(({ approvals }) =>
    approvals.put({ ...createApproval({ id: "appr_two_votes", packet: titled("Voted") }), votes }),
  );
  await entry(/Voted/).click();
  await card()
    .getByText(/user:cleo approved, .*; consented to 9 more calls/)
    .waitFor();
});

it("offers nothing with other arguments, and nothing without an offer", async () => {
  await open(({ approvals }) => (approvals.lasting = OFFER));
  await entry(/Tag one/).click();
  await choice().getByLabel("in this conversation").check();
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
  await section().getByText("with the same arguments").waitFor();
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

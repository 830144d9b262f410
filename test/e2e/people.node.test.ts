import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AuditRecord } from "../../src/protocol/audit/chain.ts";
import { closePages, openBrowser } from "../../scripts/browser.ts";
import { sampleOfGroups } from "../shared/sample.ts";
import { type HostPage, serveHostPage } from "../shared/host-page.ts";
import { SlackRelay } from "../shared/slack-relay.ts";
import { Callers } from "../story/callers.ts";
import { type House, openHouse, SECRETS } from "../story/house.ts";
import { Person } from "../story/person.ts";
import { LAST_LINE, PIN, STORM } from "../story/story-model.ts";
import { openTown, type Town } from "../story/town.ts";

const GUILD_POLICY = {
  allowedTools: [
    "bank__transfer",
    "crm__share_customers",
    "mail__send_offer",
    "travel__reserve_seat",
    "desk__file_note",
    "archive__read",
    "core__read_result",
  ],
  approvals: [
    { tools: ["crm__share_customers"], pattern: "compliance" },
    { tools: ["mail__send_offer"], pattern: "operator_review", ttlSeconds: 6 },
    {
      tools: ["desk__file_note"],
      pattern: "user_consent",
      lasting: { maxCalls: 12, maxSeconds: 86_400, sameFields: [] },
    },
  ],
  argumentRules: [{ tool: "bank__transfer", field: "/amount", must: { beAtMost: 500 } }],
  requireApprovalForClasses: ["MEDIUM_RISK_WRITE"],
  budgets: { maxCritical: 5, maxWrites: 5 },
  budgetRaises: { upTo: { maxWrites: 20 } },
  tenantBudgets: { maxCritical: 50 },
};

let town: Town;
let house: House;
let browser: Browser;
let rivalPage: HostPage;
let callers: Callers;
let relay: SlackRelay;
beforeAll(async () => {
  [town, relay] = await Promise.all([openTown(), SlackRelay.start()]);
  const hosts = { "relay.town.example": relay.url.replace(/\/$/, "") };
  [house, browser] = await Promise.all([openHouse(town, hosts), openBrowser()]);
  callers = await Callers.signIn(town, house);
  const address = "https://relay.town.example/";
  await callers.putConnection("guild", "ops", { kind: "webhook", address, secret: relay.secret });
  rivalPage = await serveHostPage(house.url, () => callers.mintForEve(rivalPage.origin));
  const notifications = { connection: "ops", page: `${house.url}/approvals` };
  await callers.putPolicy("guild", { ...GUILD_POLICY, notifications });
  await callers.putPolicy("rival", {
    allowedTools: ["mail__send_offer"],
    origins: [rivalPage.origin],
    embedMinters: [{ actorId: "service:rival" }],
  });
});
afterAll(async () => {
  await closePages(browser);
  await rivalPage?.close();
  await house?.close();
  await town?.close();
  relay?.close();
});

test("approvals work across tenants, devices, an edit, a killed process, a refusal and an expiry", async () => {
  const cast = await sitDown();
  const asked = await annAsks(cast);
  await bobAgrees(cast, asked);
  await othersReadGerman(asked);
  await theProcessDies(cast);
  await eveSeesNothing(cast, asked);
  await catEdits(cast, asked);
  await bobComesTooLate(cast, asked);
  await bobAgreesAgain(cast);
  const refused = await danRefuses(cast);
  const expired = await nobodyDecides(cast);
  expect(town.acts).toEqual([
    { tenant: "rival", what: "offer the old oven to Kim" },
    { tenant: "guild", what: "transfer 25 to bakery" },
  ]);
  await theAuditTells([asked.runId, refused, expired]);
  for (const { complaints } of Object.values(cast)) expect(complaints).toEqual([]);
}, 180_000);

test("a question is answered on another device, after the process has died", async () => {
  const ann = await Person.sitDown(browser);
  const phone = await Person.sitDown(browser, "phone");
  await ann.page.goto(house.url);
  await ann.ask("Please reserve a seat.");
  await ann.giveToken(callers.tokens.ann);
  await ann.sees("Which seat on flight LH1?");
  const before = town.acts.length;
  house.host.kill();
  await house.host.gone();
  await house.host.start();
  await phone.signIn(`${house.url}/approvals`, callers.tokens.ann);
  await phone.open(/reserve_seat/);
  await phone.sees("Which seat on flight LH1?");
  expect(await phone.decide("Answer")).toBe(422);
  await phone.sees("required field is missing");
  await phone.card.getByLabel("aisle").check();
  await phone.card.getByLabel(/^Bags/).fill("3");
  await phone.picture("question-phone");
  expect(await phone.decide("Answer")).toBe(422);
  await phone.sees(/at most 2/);
  await phone.card.getByLabel(/^Bags/).fill("1");
  expect(await phone.decide("Answer")).toBe(200);
  await phone.sees("Answered.");
  await ann.reads("You sit at the aisle.");
  expect(town.acts.slice(before)).toEqual([{ tenant: "guild", what: "seat at the aisle of LH1" }]);
  expect([...ann.complaints, ...phone.complaints]).toEqual([]);
}, 180_000);

test("a consent that lasts, a limit that an operator raises from Slack, and a result read to its end", async () => {
  const ann = await Person.sitDown(browser);
  const bob = await Person.sitDown(browser, "phone");
  const before = town.acts.length;
  await ann.page.goto(house.url);
  await ann.ask("Please file a note.");
  await ann.giveToken(callers.tokens.ann);
  await ann.sees("it and 12 more calls like it in this conversation");
  await ann.card.getByLabel(/^it and 12 more calls/).check();
  expect(await ann.decide("Approve")).toBe(200);
  await ann.reads("It is filed.");

  const runId = await ann.start("Now file nine notes.");
  const request = await callers.questionOf(runId);
  expect(town.acts.slice(before)).toHaveLength(1 + 5);
  await expect
    .poll(() => relay.messages.map(({ text }) => text))
    .toContainEqual(
      `escalation.opened: File a note (budget_request)\n<${house.url}/approvals#${request}|Open it>`,
    );
  await ann.sees("You requested this call, so another person must approve it.");
  house.host.kill();
  await house.host.gone();
  await house.host.start();
  await bob.signIn(`${house.url}/approvals#${request}`, callers.tokens.bob);
  await bob.sees("from 5 to 20; 5 used so far, this call needs 1");
  await bob.picture("raise-phone");
  const tab = { name: "Budget requests 1", exact: true };
  await bob.page.getByRole("button", { name: "Back to the list" }).click();
  await bob.page.getByRole("tab", tab).waitFor();
  await bob.picture("desk-phone");
  await bob.page.getByRole("list", { name: "Budget requests" }).getByRole("button").click();
  expect(await bob.decide("Raise the limit")).toBe(200);
  expect(relay.messages.filter(({ text }) => text.includes(request))).toHaveLength(1);
  await ann.reads("All nine are filed.");
  expect(town.acts.slice(before)).toHaveLength(1 + 9);

  const desk = await Person.sitDown(browser);
  await desk.signIn(`${house.url}/approvals`, callers.tokens.ann);
  const consents = desk.page.getByRole("region", { name: "What you consented to" });
  await consents.getByText("9 of 12 calls used").waitFor();
  await consents.getByRole("button", { name: "Take back" }).click();
  await consents.getByText("Taken back.").waitFor();
  await ann.start("Please file a note again.");
  await ann.sees("this call alone");
  expect(await ann.decide("Reject")).toBe(200);
  await ann.reads("It is not filed.");
  expect(town.acts.slice(before)).toHaveLength(1 + 9);

  await ann.start("What does the archive say?");
  await ann.reads(`It says that ${LAST_LINE}.`);
  await ann.page.getByRole("button", { name: "Show the whole result" }).click();
  await ann.page
    .getByRole("region", { name: "Whole result" })
    .getByText(`And ${LAST_LINE}.`)
    .waitFor();
  expect([ann, bob, desk].flatMap(({ complaints }) => complaints)).toEqual([]);
}, 180_000);

/** Runs that failed, each with what made it fail, and what its page says: what, why and who. */
const FAILED: readonly (readonly [
  name: string,
  question: string,
  fail: (runId: string) => Promise<unknown>,
  words: readonly string[],
])[] = [
  [
    "of a rule of the policy",
    "Please send 2,500 USD to the palace.",
    () => Promise.resolve(),
    ["bank__transfer", '"amount":2500', "the gate argument_rules ended it", "begun by user:ann"],
  ],
  [
    "of arguments outside their bounds",
    "Please send nothing at all.",
    () => Promise.resolve(),
    ["bank__transfer", "OUT_OF_BOUNDS", "the gate arguments ended it", "begun by user:ann"],
  ],
  [
    "of a tool that does not exist",
    "Open the vault.",
    () => Promise.resolve(),
    ["bank__open_vault", "the gate lookup ended it", "begun by user:ann"],
  ],
  [
    "of a provider that refuses",
    `What is ${STORM} like?`,
    () => Promise.resolve(),
    ["the model story failed, HTTP 400", "begun by user:ann"],
  ],
  [
    "of a person who rejected it, after the process had died",
    "Share our customers with Acme Ads.",
    async (runId) => {
      const approvalId = await callers.questionOf(runId);
      house.host.kill();
      await house.host.gone();
      await house.host.start();
      const vote = { decision: "reject", reason: "They never agreed to that." };
      const voted = await callers.send("dan", `/v1/approvals/${approvalId}/decisions`, vote);
      expect(voted.status).toBe(200);
    },
    ["crm__share_customers", "Acme Ads", "the gate approval ended it", "user:dan voted reject"],
  ],
  [
    "of the person who cancelled it",
    "Share our customers with Acme Ads.",
    async (runId) => {
      await callers.questionOf(runId);
      expect((await callers.send("ann", `/v1/runs/${runId}/cancel`, {})).status).toBe(200);
    },
    ["crm__share_customers", "Somebody cancelled it.", "user:ann cancelled the run"],
  ],
];

test.each(sampleOfGroups(FAILED, () => "failed", FAILED.length))(
  "a run that failed because %s is explained by its page alone",
  async (_name, content, fail, words) => {
    const body = { messages: [{ role: "user", content }] };
    const asked = await callers.send("ann", "/v1/chat", body);
    const runId = asked.headers.get("x-run-id") ?? "none";
    await Promise.all([fail(runId), asked.text().catch(() => "the process died")]);
    const fay = await Person.sitDown(browser);
    await fay.signIn(`${house.url}/runs#${runId}`, callers.tokens.fay);
    const run = fay.page.getByRole("article", { name: "Run", exact: true });
    // The audit log follows the run a little later.
    await expect
      .poll(async () => {
        await fay.page.getByRole("button", { name: "Refresh" }).click();
        const text = (await run.textContent()) ?? "";
        return words.filter((word) => !text.includes(word));
      })
      .toEqual([]);
    expect(fay.complaints).toEqual([]);
  },
  180_000,
);

type Cast = Readonly<Record<"ann" | "bob" | "bobsDesk" | "cat" | "dan" | "eve", Person>>;

async function sitDown(): Promise<Cast> {
  return {
    ann: await Person.sitDown(browser),
    bob: await Person.sitDown(browser, "phone"),
    bobsDesk: await Person.sitDown(browser),
    cat: await Person.sitDown(browser),
    dan: await Person.sitDown(browser),
    eve: await Person.sitDown(browser),
  };
}

interface Asked {
  readonly runId: string;
  readonly approvalId: string;
}

async function annAsks({ ann }: Cast): Promise<Asked> {
  await ann.page.goto(house.url);
  await ann.ask("Please send 40 USD to the bakery.");
  const answered = ann.page.waitForResponse(
    (response) => response.url().endsWith("/v1/chat") && response.status() === 200,
  );
  await ann.giveToken(callers.tokens.ann);
  const runId = (await answered).headers()["x-run-id"] ?? "none";
  for (const text of ["Transfer 40 USD to bakery", "40 USD leave our account", "900", "860"]) {
    await ann.sees(text);
  }
  await ann.sees("You requested this call, so another person must approve it.");
  expect(await ann.card.getByRole("button").allTextContents()).toEqual(["Cancel request"]);
  await expect.poll(() => ann.button("Cancel request").isDisabled()).toBe(false);
  await ann.picture("chat-waits");
  const approvalId = await callers.questionOf(runId);
  const vote = await callers.send("ann", `/v1/approvals/${approvalId}/decisions`, {
    decision: "approve",
  });
  expect([vote.status, await vote.json()]).toMatchObject([403, { reason: "own_request" }]);
  return { runId, approvalId };
}

async function bobAgrees({ ann, bob, bobsDesk }: Cast, { approvalId }: Asked): Promise<void> {
  await bobsDesk.signIn(`${house.url}/approvals#${approvalId}`, callers.tokens.bob);
  await bobsDesk.sees("Transfer 40 USD to bakery");
  await bob.signIn(`${house.url}/approvals`, callers.tokens.bob);
  await bob.reads("Transfer 40 USD to bakery");
  await bob.picture("approvals-queue");
  await bob.open("Transfer 40 USD to bakery");
  await bob.sees("0 of 2 so far.");
  await bob.picture("approval-packet");
  expect(await bob.approveCritical("bank__transfer")).toBe(200);
  await bob.sees("1 of 2 so far.");
  await bob.sees("You have approved this.");
  expect(await bob.button("Approve").count()).toBe(0);
  await ann.sees("1 of 2 so far.");
  await ann.sees("user:bob");
  await bob.page.getByRole("button", { name: "Back to the list" }).click();
}

/** The same approval and the desk, in browsers that prefer German. */
async function othersReadGerman({ runId, approvalId }: Asked): Promise<void> {
  const [ann, bob] = [
    await Person.sitDown(browser, "desktop", "de-DE"),
    await Person.sitDown(browser, "desktop", "de-DE"),
  ];
  const giveToken = async ({ page }: Person, token: string): Promise<void> => {
    await page.getByLabel("Zugangstoken").fill(token);
    await page.getByRole("button", { name: "Weiter" }).click();
  };
  await bob.page.goto(`${house.url}/approvals?show=pending&person=user:ann#${approvalId}`);
  await giveToken(bob, callers.tokens.bob);
  await bob.sees("Transfer 40 USD to bakery");
  await bob.sees("Weg zurück");
  await bob.page.getByRole("list", { name: "Zustimmungen" }).getByText("user:ann").waitFor();
  await bob.picture("desk-german");
  await ann.page.goto(house.url);
  await ann.page.getByRole("textbox", { name: "Nachricht" }).waitFor();
  await ann.page.evaluate(`document.querySelector("interlock-chat").openChat("${runId}")`);
  await giveToken(ann, callers.tokens.ann);
  await ann.sees("Das Werkzeug läuft nicht. Ein Modell, das es wollte, erfährt das");
  await ann.sees("40 USD leave our account");
  await ann.picture("chat-german");
  expect([...ann.complaints, ...bob.complaints]).toEqual([]);
  for (const { page } of [ann, bob]) await page.context().close();
}

/** Ann's stream breaks off and resumes by itself. Bob's queue loads its approvals again. */
async function theProcessDies({ ann }: Cast): Promise<void> {
  house.host.kill();
  await house.host.gone();
  await ann.reads("Reconnecting…");
  await house.host.start();
  await expect.poll(() => ann.page.getByText("Reconnecting…").first().isVisible()).toBe(false);
  await ann.sees("1 of 2 so far.");
  expect(town.acts).toEqual([]);
}

/** Meanwhile, another tenant works on a page of another origin. */
async function eveSeesNothing({ eve }: Cast, { runId, approvalId }: Asked): Promise<void> {
  await eve.signIn(`${house.url}/approvals`, callers.tokens.eve);
  await eve.reads("This list has no approvals.");
  await eve.page.goto(`${house.url}/approvals?from=somewhere#${approvalId}`);
  await eve.reads("There is no such");
  for (const address of [`approvals/${approvalId}`, `runs/${runId}`, `runs/${runId}/events`]) {
    const answer = await callers.send("eve", `/v1/${address}`);
    const unknown = await callers.send("eve", `/v1/${other(address)}`);
    expect([answer.status, await answer.text()]).toEqual([404, await unknown.text()]);
  }
  const vote = await callers.send("eve", `/v1/approvals/${approvalId}/decisions`, {
    decision: "approve",
  });
  expect(vote.status).toBe(404);

  await eve.page.goto(rivalPage.origin);
  await eve.ask("Offer Kim the old oven.");
  await eve.sees("Kim gets a mail that offers the old oven.");
  expect(await eve.decide("Approve")).toBe(200);
  await eve.reads("Kim has the offer.");
}

/** Returns the address with an id that does not exist. */
function other(address: string): string {
  return address.replace(/(?<=_)[^/]/, (first) => (first === "A" ? "B" : "A"));
}

async function catEdits({ ann, cat }: Cast, { approvalId }: Asked): Promise<void> {
  await cat.signIn(`${house.url}/approvals`, callers.tokens.cat);
  await cat.open("Transfer 40 USD to bakery");
  await cat.sees("1 of 2 so far.");
  await cat.button("Edit arguments").click();
  const field = cat.card.getByLabel(/^Arguments as JSON/);
  expect(await field.inputValue()).not.toContain(PIN);
  await field.fill('{\n  "amount": 2500,\n  "to": "bakery"\n}');
  expect(await cat.decide("Submit changed arguments")).toBe(422);
  await cat.sees(/^Amount: /);
  await field.scrollIntoViewIfNeeded();
  await expect.poll(() => cat.button("Reject").isDisabled()).toBe(false);
  await cat.picture("approval-field-error");
  await field.fill('{\n  "amount": 25,\n  "to": "bakery"\n}');
  expect(await cat.decide("Submit changed arguments")).toBe(200);
  // Her vote counts for her edit. Bob's vote was for the old arguments.
  for (const person of [cat, ann]) {
    await person.sees("Transfer 25 USD to bakery");
    await person.sees("875");
    await person.sees("1 of 2 so far.");
    await person.sees("user:cat");
    expect(await person.card.getByText("user:bob").count()).toBe(0);
  }
  await cat.sees("You have approved this.");
  await cat.picture("approval-asked-anew");
  const closed = await callers.send("bob", `/v1/approvals/${approvalId}`);
  expect(await closed.json()).toMatchObject({ status: "superseded" });
}

/** His vote about the old approval comes too late. His desk learns of the new one by itself. */
async function bobComesTooLate({ bobsDesk }: Cast, { approvalId }: Asked): Promise<void> {
  const late = await callers.send("bob", `/v1/approvals/${approvalId}/decisions`, {
    decision: "reject",
    reason: "40 is too much",
  });
  expect(late.status).toBe(409);
  await bobsDesk.sees("The arguments were changed. Review the new arguments.");
  await bobsDesk.sees("Transfer 25 USD to bakery");
  await bobsDesk.sees("user:cat");
  expect(town.acts).toHaveLength(1);
}

/** His phone shows the new approval without a reload. */
async function bobAgreesAgain({ bob, ann }: Cast): Promise<void> {
  await bob.open("Transfer 25 USD to bakery");
  expect(await bob.approveCritical("bank__transfer")).toBe(200);
  await bob.sees("Approved.");
  await ann.reads("I have sent 25 USD to the bakery.");
}

async function danRefuses({ dan, ann }: Cast): Promise<string> {
  const runId = await ann.start("Share our customers with Acme Ads.");
  await ann.sees("Share all customers with Acme Ads");
  await dan.signIn(`${house.url}/approvals`, callers.tokens.dan);
  await dan.open("Share all customers with Acme Ads");
  await dan.card.getByLabel("Reason (required)").fill("They never agreed to that.");
  expect(await dan.decide("Reject")).toBe(200);
  await dan.sees("Rejected. The tool does not run.");
  await ann.sees("They never agreed to that.");
  await ann.reads("Nothing was shared. I can write to our customers instead.");
  await ann.picture("chat-refused");
  return runId;
}

async function nobodyDecides({ bob, ann }: Cast): Promise<string> {
  const runId = await ann.start("Offer Kim the old oven.");
  const approvalId = await callers.questionOf(runId);
  await bob.page.goto(`${house.url}/approvals?late#${approvalId}`);
  await bob.sees("Offer the old oven to Kim");
  await ann.reads("Nobody answered in time, so no offer went out.");
  await ann.sees("Nobody decided in time. The tool does not run.");
  await bob.sees("Nobody decided in time. The tool does not run.");
  await bob.page.getByRole("button", { name: "Back to the list" }).click();
  await bob.page.getByRole("combobox", { name: "Show" }).selectOption("Expired");
  await bob.page.getByRole("button", { name: /Offer the old oven to Kim.*Expired/ }).waitFor();
  const late = await callers.send("bob", `/v1/approvals/${approvalId}/decisions`, {
    decision: "approve",
  });
  expect([late.status, await late.json()]).toMatchObject([
    409,
    { code: "approval_closed", approval: { status: "expired" } },
  ]);
  return runId;
}

/** Returns who did what in each of Ann's runs, in order. Late decisions are absent. */
const TOLD = [
  [
    "run.started ann",
    "approval.requested ann dual_control",
    "approval.refused ann approve",
    "approval.voted bob approve",
    "approval.edited cat",
    "approval.requested ann dual_control",
    "approval.voted cat approve",
    "approval.refused bob reject",
    "approval.voted bob approve",
    "approval.closed nobody approved",
    "approval.consumed nobody",
    "call.ended ann",
    "run.ended ann stop",
  ],
  [
    "run.started ann",
    "approval.requested ann compliance",
    "approval.voted dan reject",
    "approval.closed nobody rejected",
    "call.ended ann",
    "run.ended ann stop",
  ],
  [
    "run.started ann",
    "approval.requested ann operator_review",
    "approval.closed nobody expired",
    "call.ended ann",
    "run.ended ann stop",
    "approval.refused bob approve",
  ],
];

async function theAuditTells(runIds: readonly string[]): Promise<void> {
  // The tenant hears of a refused decision a little later.
  const readTold = async () => {
    const { records } = await callers.exportAudit("guild");
    return runIds.map((runId) => records.filter(({ entry }) => entry.runId === runId).map(tell));
  };
  await expect.poll(readTold).toEqual(TOLD);
  const guild = await callers.exportAudit("guild");
  const rival = await callers.exportAudit("rival");
  for (const secret of [PIN, ...Object.values(SECRETS), ...Object.values(callers.tokens)]) {
    expect(guild.text + rival.text).not.toContain(secret);
  }
  expect(rival.text).toContain("user:eve");
  for (const name of ["guild", "user:ann", "user:bob", "bakery", "Acme", ...runIds]) {
    expect(rival.text).not.toContain(name);
  }
}

function tell({ entry: { action, actorId, decision } }: AuditRecord): string {
  const who = actorId?.replace("user:", "") ?? "nobody";
  return [action, who, decision].filter(Boolean).join(" ");
}

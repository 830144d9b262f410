import { describe, expect, it } from "vitest";
import { MEASURE_CONTRAST } from "./measure-contrast.ts";
import type { Visit, VisitOptions } from "./open-page.ts";
import { createApproval, vote } from "./scripted-approvals.ts";
import { fillQueue, titled } from "./scripted-queue.ts";
import { fillRuns, paidRun } from "./scripted-runs.ts";
import { usePage } from "./use-page.ts";

let visit: Visit;
const openPage = usePage((opened) => {
  visit = opened;
});

function open(options: VisitOptions = {}): Promise<void> {
  return openPage({ at: "approvals", prepare: fillQueue, ...options });
}

const WIDER_THAN_ITS_BOX = `(root) => [document.documentElement, ...root.querySelectorAll("*")]
  .filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 1 && e.checkVisibility())
  .map((e) => e.outerHTML.slice(0, 80))`;

const approvals = () => visit.page.getByRole("list", { name: "Approvals" });
const entry = (name: RegExp) => approvals().getByRole("button", { name });
const card = () => visit.page.getByRole("dialog");

describe("the queue", () => {
  it("lists what the reader may decide, and opens one approval at a time", async () => {
    await open();
    await entry(/Send a mail/).click();
    await visit.page.getByRole("dialog", { name: "Send a mail" }).waitFor();
    expect(visit.api.requestsTo(/GET \/v1\/approvals\?/)[0]?.path).toBe(
      "/v1/approvals?status=pending&decidable=true&limit=50",
    );
    await entry(/Wipe it/).click();
    await visit.page.getByRole("dialog", { name: "Wipe it" }).waitFor();
    expect(await card().count()).toBe(1);
    await card().getByLabel("Type disk__wipe").fill("disk__wipe");
    await card().getByRole("button", { name: "Approve" }).click();
    await card().getByText("Approved.").waitFor();
    await entry(/Wipe it.*Approved/).waitFor();
  });

  it("is shown in pages", async () => {
    await open({
      prepare: (api) => {
        fillQueue(api);
        api.approvals.pageSize = 2;
      },
    });
    await entry(/Send a mail/).waitFor();
    expect(await approvals().getByRole("listitem").count()).toBe(2);
    await visit.page.getByRole("button", { name: "Show more" }).click();
    await expect.poll(() => approvals().getByRole("listitem").count()).toBe(4);
    await visit.page.getByRole("button", { name: "Show more" }).click();
    await expect.poll(() => approvals().getByRole("listitem").count()).toBe(5);
    expect(await visit.page.getByRole("button", { name: "Show more" }).isVisible()).toBe(false);
  });

  it("opens the approval that the address names", async () => {
    await open({ at: "approvals#appr_two" });
    await visit.page.getByRole("dialog", { name: "Tag two" }).waitFor();
  });

  it("opens the approval that the address names after the reader signed in", async () => {
    await open({
      at: "approvals#appr_two",
      prepare: (api) => {
        fillQueue(api);
        api.token = "right";
      },
    });
    await visit.page.getByLabel("Access token").fill("right");
    await visit.page.getByRole("button", { name: "Continue" }).click();
    await visit.page.getByRole("dialog", { name: "Tag two" }).waitFor();
  });

  it("says that the approval in the address does not exist", async () => {
    await open({ at: "approvals#appr_unknown" });
    await entry(/Send a mail/).waitFor();
    await visit.page.getByText("There is no such approval").waitFor();
  });

  it("follows the open approval to its successor, which starts without votes", async () => {
    await open({
      prepare: ({ approvals }) => {
        const packet = titled("Tag one");
        const votes = [vote("user:bob", "approve"), vote("user:dan", "approve")];
        approvals.put({
          ...createApproval({ id: "appr_one", pattern: "dual_control", packet }),
          votes,
        });
      },
    });
    await entry(/Tag one/).click();
    await card().getByText("user:bob").waitFor();
    const next = createApproval({ id: "appr_one_2", packet: titled("Tag another") });
    visit.api.approvals.put({ ...next, votes: [vote("user:eve", "approve")] });
    const one = visit.api.approvals.get("appr_one");
    visit.api.approvals.put({ ...one, status: "superseded", supersededBy: next.id });
    await card().getByRole("button", { name: "Reject" }).click();
    await card().getByText("user:eve").waitFor();
    expect(await card().getByText("user:bob").count()).toBe(0);
    expect(await approvals().getByRole("button").count()).toBe(1);
    expect(await entry(/Tag another/).getAttribute("aria-current")).toBe("true");
    expect(visit.page.url()).toMatch(/#appr_one_2$/);
    // The list changed without another read of the queue.
    expect(visit.api.requestsTo(/GET \/v1\/approvals\?/)).toHaveLength(2);
  });

  it("asks for a token when the server requires one", async () => {
    await open({
      prepare: (api) => {
        fillQueue(api);
        api.token = "right";
      },
    });
    await visit.page.getByLabel("Access token").fill("wrong");
    await visit.page.getByRole("button", { name: "Continue" }).click();
    await visit.page.getByText("The server rejected this token.").waitFor();
    await visit.page.getByLabel("Access token").fill("right");
    await visit.page.getByRole("button", { name: "Continue" }).click();
    await entry(/Send a mail/).waitFor();
  });
});

it("says what a raise of a limit changes, and that it approves no call", async () => {
  const raise = {
    budget: "external",
    source: "policy",
    limit: 1,
    used: 1,
    needs: 1,
    to: 4,
    currency: "USD",
  } as const;
  const packet = { ...titled("Send a mail"), raise };
  await open({
    at: "approvals#appr_raise",
    prepare: (api) =>
      api.approvals.put(createApproval({ id: "appr_raise", asks: "raise", packet })),
  });
  const said = "calls of class HIGH_RISK_EXTERNAL, from 1 to 4; 1 used so far, this call needs 1";
  await card().getByText(`Raise the limit of this run for ${said}`).waitFor();
  await card().getByText("It approves no call").waitFor();
  expect(await card().getByRole("button", { name: "Edit arguments" }).isVisible()).toBe(false);
  await card().getByRole("button", { name: "Raise the limit" }).click();
  await card().getByText("Approved.").waitFor();
  expect(visit.api.requestsTo(/decisions/)[0]?.body).toBe(`{"decision":"approve"}`);
});

it("shows in sight in which workspace a call acts", async () => {
  await open({
    at: "approvals#appr_here",
    prepare: ({ approvals }) => {
      const packet = { ...titled("Tag here"), workspaceId: "attic" };
      approvals.put(createApproval({ id: "appr_here", packet }));
    },
  });
  await card().getByText("attic", { exact: true }).waitFor();
});

it("asks its page for another token after the first was rejected", async () => {
  await open({
    prepare: (api) => {
      fillQueue(api);
      api.token = "second";
    },
  });
  await visit.page.evaluate(
    `(() => {
      const tokens = ["first", "second"];
      const element = document.querySelector("interlock-approvals");
      element.getToken = () => (tokens.length > 1 ? tokens.shift() : tokens[0]);
    })()`,
  );
  await visit.page.getByRole("button", { name: "Refresh" }).click();
  await entry(/Send a mail/).waitFor();
});

it("loads no style of the chat", async () => {
  await open();
  const rules = await visit.inside<string>(
    `(root) => root.adoptedStyleSheets.flatMap((sheet) => [...sheet.cssRules])
      .map((rule) => rule.cssText).join(" ")`,
  );
  expect(rules).toContain(".queue");
  expect(rules).not.toMatch(/\.(chat|log|exchange|tool|send)\b/);
});

describe("the keys", () => {
  const focused = () =>
    visit.inside<string>(`(root) => root.activeElement?.textContent.slice(0, 12) ?? ""`);

  it("move through the list, and decide; what may move money is pressed twice", async () => {
    await open({ holdSeconds: true });
    await entry(/Send a mail/).waitFor();
    await visit.page.keyboard.press("j");
    expect(await focused()).toMatch(/^Send a mail/);
    for (const key of ["j", "j", "j", "k"]) await visit.page.keyboard.press(key);
    expect(await focused()).toMatch(/^Tag one/);
    await visit.page.keyboard.press("Enter");
    await visit.page.getByRole("dialog", { name: "Tag one" }).waitFor();
    // The buttons come with what the entry asks.
    await card().getByRole("button", { name: "Reject", exact: true }).waitFor();
    await visit.page.keyboard.press("r");
    await visit.page.getByText("“Reject” is not ready.").waitFor();
    await visit.page.evaluate("release()");
    await visit.page.keyboard.press("r");
    await card().getByText("Rejected.").waitFor();
    await entry(/Send a mail/).click();
    // The answers about the entry before may disable the buttons once more.
    await expect
      .poll(async () => {
        await visit.page.evaluate("release()");
        return card().getByRole("button", { name: "Approve", exact: true }).isEnabled();
      })
      .toBe(true);
    await visit.page.keyboard.press("a");
    await visit.page.getByText("Press a again: Approve.").waitFor();
    await visit.page.keyboard.press("r");
    await visit.page.getByText("Press r again: Reject.").waitFor();
    expect(visit.api.requestsTo(/decisions/)).toHaveLength(1);
    await visit.page.keyboard.press("a");
    await visit.page.keyboard.press("a");
    await card().getByText("Approved.").waitFor();
    const sent = visit.api.requestsTo(/decisions/).map(({ body }) => JSON.parse(body) as object);
    expect(sent).toEqual([{ decision: "reject" }, { decision: "approve" }]);
  });

  it("are letters where the reader types, are listed, and can be turned off for good", async () => {
    await open();
    await entry(/Tag one/).click();
    await expect.poll(() => card().getByRole("button", { name: "Reject" }).isEnabled()).toBe(true);
    await card()
      .getByLabel(/^Reason/)
      .pressSequentially("jar?");
    expect(
      await card()
        .getByLabel(/^Reason/)
        .inputValue(),
    ).toBe("jar?");
    await visit.page.getByRole("button", { name: "Keys" }).click();
    const keys = visit.page.getByRole("dialog", { name: "Keys" });
    await keys.getByText("search what is loaded").waitFor();
    await keys.getByLabel("Use these keys").uncheck();
    await visit.page.keyboard.press("Escape");
    await visit.page.reload();
    await visit.page.getByRole("dialog", { name: "Tag one" }).waitFor();
    await expect.poll(() => card().getByRole("button", { name: "Reject" }).isEnabled()).toBe(true);
    await visit.page.keyboard.press("r");
    await visit.page.keyboard.press("?");
    await keys.waitFor();
    expect(visit.api.requestsTo(/decisions/)).toEqual([]);
  });
});

it("narrows what is loaded by text, and asks the server for a tool, a person and an assistant", async () => {
  await open();
  await entry(/Send a mail/).waitFor();
  const panel = visit.page.getByRole("tabpanel");
  await panel.getByLabel("Search what is loaded").fill("TAG t");
  await panel.getByText("2 of 5 loaded entries fit.").waitFor();
  expect(await approvals().getByRole("listitem").count()).toBe(2);
  await panel.getByText("More filters").click();
  const fill = async (name: string, value: string): Promise<void> => {
    await panel.getByLabel(name, { exact: true }).fill(value);
    await panel.getByLabel(name, { exact: true }).press("Tab");
  };
  await fill("Person", "user:bob");
  await panel.getByText("0 of 0 loaded entries fit.").waitFor();
  await fill("Person", "user:cleo");
  await panel.getByText("2 of 5 loaded entries fit.").waitFor();
  await fill("Tool", "desk__tag");
  await fill("Assistant", "support");
  await panel.getByLabel("Show").selectOption("All pending");
  await panel.getByLabel("Kind").selectOption("Review of many at once");
  const asked = () => visit.api.requestsTo(/pattern=/).map(({ path }) => path);
  await expect.poll(() => asked().length).toBeGreaterThan(0);
  const before = asked().length;
  await visit.page.reload();
  await expect.poll(() => asked().length).toBeGreaterThan(before);
  await panel.getByText(/^2 of . loaded entries fit/).waitFor();
  expect(new URL(visit.page.url()).search).toBe(
    "?search=TAG+t&person=user%3Acleo&tool=desk__tag&assistant=support&show=pending&kind=async_review",
  );
  expect(await panel.getByLabel("Tool").inputValue()).toBe("desk__tag");
  expect(new Set(asked())).toEqual(
    new Set([
      "/v1/approvals?status=pending&tool=desk__tag&person=user%3Acleo&assistant=support&limit=50&pattern=async_review",
    ]),
  );
});

it("says why a key does nothing while the list is being loaded, and with no entry open", async () => {
  await open();
  await visit.page.route("**/v1/approvals?*", () => undefined);
  await visit.page.reload();
  await visit.page.getByRole("tab", { name: "Approvals" }).focus();
  await visit.page.keyboard.press("j");
  await visit.page.getByText("The list is being loaded.").waitFor();
  await visit.page.keyboard.press("a");
  await visit.page.getByText("Open an entry first, then press a.").waitFor();
});

it("counts each list, and keeps budget requests in their own", async () => {
  await open({
    prepare: (api) => {
      fillQueue(api);
      api.outcomes.put("run_a");
      api.escalations.put("esc_1");
      const packet = titled("Raise it");
      api.approvals.put(createApproval({ id: "appr_raise", asks: "raise", packet }));
    },
  });
  for (const name of ["Approvals 5", "Budget requests 1", "Outcomes 1", "Escalations 1"]) {
    await visit.page.getByRole("tab", { name, exact: true }).waitFor();
  }
  await visit.page.getByRole("tab", { name: /Approvals/ }).press("ArrowRight");
  const requests = visit.page.getByRole("list", { name: "Budget requests" });
  await requests.getByRole("button", { name: /Raise it/ }).click();
  await card().getByRole("button", { name: "Raise the limit" }).waitFor();
  expect(await entry(/Raise it/).count()).toBe(0);
});

describe("many at once", () => {
  it("is possible for bulk review of calls that are not critical", async () => {
    await open();
    await entry(/Send a mail/).waitFor();
    const boxes = await approvals().getByRole("checkbox").all();
    const names = await Promise.all(boxes.map((box) => box.getAttribute("aria-label")));
    expect(names).toEqual(["Select Tag one", "Select Tag two", "Select Tag three"]);
  });

  it("decides the selected approvals, and shows the results", async () => {
    await open({ holdSeconds: true });
    await visit.page.getByLabel("Select Tag one").check();
    await visit.page.getByLabel("Select Tag three").check();
    const all = visit.page.getByRole("button", { name: "Reject all" });
    expect(await all.isDisabled()).toBe(true);
    await visit.page.evaluate("release()");
    const one = visit.api.approvals.get("appr_one");
    visit.api.approvals.put({ ...one, status: "expired" });
    await visit.page.getByLabel("Reason for all selected approvals").fill("duplicates");
    await all.click();
    await visit.page
      .getByText("1 decided. 1 not decided: Somebody decided it first, or its time was over.")
      .waitFor();
    const [sent] = visit.api.requestsTo(/POST \/v1\/approvals\/decisions/);
    expect(JSON.parse(sent?.body ?? "")).toEqual({
      decisions: [
        { approvalId: "appr_one", decision: "reject", reason: "duplicates" },
        { approvalId: "appr_three", decision: "reject", reason: "duplicates" },
      ],
    });
    await expect.poll(() => approvals().getByRole("listitem").count()).toBe(3);
  });
});

it("hostile titles stay text and hide nothing", async () => {
  const title = '<img src=x onerror="alert(1)">\u202e\u200b';
  await open({
    prepare: (api) => api.approvals.put(createApproval({ packet: titled(title) })),
  });
  await entry(/onerror/).click();
  await visit.page.getByRole("dialog", { name: /onerror.*⟦U\+202E⟧⟦U\+200B⟧/ }).waitFor();
  expect(await visit.inside(`(root) => root.querySelectorAll("img").length`)).toBe(0);
});

it("fits a phone without sideways scrolling", async () => {
  const wide = "unbroken".repeat(60);
  await open({
    viewport: { width: 360, height: 640 },
    prepare: (api) =>
      api.approvals.put(
        createApproval({
          packet: { ...titled(wide), arguments: { shown: { [wide]: wide }, withheld: [] } },
        }),
      ),
  });
  await entry(/unbroken/).click();
  await card().getByRole("button", { name: "Approve" }).waitFor();
  const overflow = await visit.inside(WIDER_THAN_ITS_BOX);
  expect(overflow).toEqual([]);
  await visit.page.getByRole("button", { name: "Back to the list" }).click();
  expect(await card().isVisible()).toBe(false);
});

/** Reads the contrast of every text, in light and in dark colours. */
async function expectContrast(minTexts: number): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await visit.page.emulateMedia({ colorScheme });
    const contrasts = await visit.inside<{ text: string; ratio: number }[]>(MEASURE_CONTRAST);
    const weak = contrasts.filter(({ ratio }) => ratio < 4.5);
    expect({ colorScheme, weak }).toEqual({ colorScheme, weak: [] });
    expect(contrasts.length).toBeGreaterThan(minTexts);
  }
}

it("has a contrast of at least 4.5 to 1 for every text, in light and in dark colours", async () => {
  await open({
    prepare: (api) => {
      fillQueue(api);
      const shown = { to: "ann@pаypal.example\u202e" };
      api.approvals.put(
        createApproval({ packet: { ...titled("Odd"), arguments: { shown, withheld: ["/x"] } } }),
      );
    },
  });
  await entry(/Odd/).click();
  await expect.poll(() => card().getByRole("button", { name: "Reject" }).isDisabled()).toBe(false);
  await expectContrast(30);
});

describe("the page of runs", () => {
  const runs = () => visit.page.getByRole("list", { name: "Runs" });
  const trace = () => visit.page.getByRole("article", { name: "Run" });
  const openRuns = (options: VisitOptions = {}): Promise<void> =>
    openPage({ at: "runs", prepare: ({ listed }) => fillRuns(listed), ...options });

  it("shows from one address what was proposed, who approved under which terms, and why it ended", async () => {
    await openRuns({ at: "runs#run_paid" });
    await trace().getByRole("heading", { name: "The model gave its answer." }).waitFor();
    const timeline = trace().getByRole("region", { name: "Timeline" });
    await timeline.getByText("2 h, 2 h of it for people").waitFor();
    expect(await timeline.getByRole("listitem").count()).toBe(6);
    const refused = trace().getByRole("region", { name: "bank__close 1.0.0" });
    await refused.getByText("because the policy does not allow the tool").first().waitFor();
    const paid = trace().getByRole("region", { name: "bank__transfer 1.0.0" });
    await paid.getByText("The effect happened and was undone.").waitFor();
    expect(await paid.getByRole("row").allInnerTexts()).toEqual([
      expect.stringMatching(/Term\s+Before\s+Now/),
      expect.stringMatching(/required\s+1\s+2/),
    ]);
    await paid.getByText("user:cat (finance): approve").waitFor();
    // A link in the timeline moves to its call, and keeps the address of the run.
    await timeline.getByRole("link", { name: "bank__transfer" }).press("Enter");
    expect(await visit.inside("(root) => root.activeElement?.id")).toBe("inv_3");
    expect(visit.page.url()).toMatch(/#run_paid$/);
    await paid.getByRole("link", { name: "run_undo" }).click();
    await trace().getByRole("link", { name: "run_paid" }).click();
    await paid.waitFor();
  });

  it("filters the list and keeps the filters in the address, shows costs, and counts the tokens of a run that waits", async () => {
    await openRuns();
    await expect.poll(() => runs().getByRole("listitem").count()).toBe(3);
    await visit.page.getByLabel("State").selectOption("waiting");
    await expect.poll(() => runs().getByRole("listitem").count()).toBe(1);
    expect(visit.page.url()).toMatch(/runs\?status=waiting$/);
    await openRuns({ at: "runs?status=waiting" });
    await expect.poll(() => runs().getByRole("listitem").count()).toBe(1);
    expect(await visit.page.getByLabel("State").inputValue()).toBe("waiting");
    await visit.page.getByLabel("State").selectOption("");
    await visit.page.getByLabel("Tool").fill("bank__transfer");
    await visit.page.getByLabel("Tool").press("Enter");
    await expect.poll(() => runs().getByRole("listitem").count()).toBe(1);
    await runs().getByText("Pay the bakery").waitFor();
    expect(visit.page.url()).toMatch(/runs\?tool=bank__transfer$/);
    await visit.page.getByLabel("Tool").fill("");
    await visit.page.getByLabel("Assistant").fill("desk");
    await visit.page.getByLabel("Assistant").press("Enter");
    await expect.poll(() => runs().getByRole("listitem").count()).toBe(3);
    await expect.poll(() => visit.api.requestsTo(/runs\?assistant=desk&limit/)).not.toEqual([]);
    // The picture is for the eye alone; the table says the same.
    await visit.page.getByText("Costs", { exact: true }).click();
    const costs = visit.page.getByRole("table", { name: "Cost per day in EUR" });
    await costs.waitFor();
    expect(await costs.getByRole("row").allInnerTexts()).toEqual([
      expect.stringMatching(/Day\s+Cost/),
      expect.stringMatching(/2026-11-25\s+0.2 EUR/),
      expect.stringMatching(/2026-11-27\s+0.5 EUR/),
    ]);
    const rowsOf = async (what: string): Promise<unknown> =>
      visit.page
        .getByRole("table", { name: `Cost per ${what} in EUR` })
        .getByRole("row")
        .allInnerTexts();
    expect([await rowsOf("assistant"), await rowsOf("model"), await rowsOf("tool")]).toEqual(
      [
        [/Assistant\s+Cost/, /direct calls\s+0.4 EUR/, /desk\s+0.3 EUR/],
        [/Model\s+Cost/, /cheap\s+0.3 EUR/],
        [/Tool\s+Cost/, /bank__transfer\s+0.4 EUR/],
      ].map((rows) => rows.map((row) => expect.stringMatching(row))),
    );
    expect(await visit.inside('(root) => root.querySelectorAll(".costs svg rect").length')).toBe(2);
    await runs()
      .getByRole("button", { name: /A question/ })
      .click();
    await trace().getByText("1,200 tokens in, 340 out").waitFor();
    await trace().getByText("does not have all records of this run yet").waitFor();
  });

  it("tries a changed policy by keyboard, and tells each call that it decides otherwise, and why", async () => {
    await openRuns();
    await visit.page.getByRole("link", { name: "Try a policy" }).press("Enter");
    const trial = () => visit.page.getByRole("article", { name: "Try a policy" });
    const text = () => trial().getByLabel("Changed policy");
    const decide = trial().getByRole("button", { name: "Try it on the last calls" });
    await text().waitFor();
    expect(await text().inputValue()).toContain("desk__search");
    await decide.press("Enter");
    await trial().getByText("Other decisions: none.").waitFor();
    await text().fill('{"allowedTools":["bank__transfer"]}');
    await decide.press("Enter");
    const table = trial().getByRole("table", { name: /decision changes/ });
    await table.waitFor();
    expect(await table.getByRole("row").nth(1).innerText()).toMatch(
      /desk__search 1.0.0, inv_1 of run_paid.*allowed\s+refused, because the policy does not allow the tool \(not_allowed\), by \/allowedTools/s,
    );
    expect(await trial().getByRole("status").innerText()).toMatch(
      /3 calls of 2 runs.*Other decisions: 1 call\. Left out: 1 call/,
    );
    await text().fill("[");
    await decide.press("Enter");
    await trial().getByRole("alert").getByText("This is not a JSON object.").waitFor();
    await text().fill("{}");
    await decide.press("Enter");
    await trial().getByText("/policy/allowedTools: expected a list").waitFor();
    await table.waitFor({ state: "detached" });
    await openRuns({
      at: "runs#policy",
      prepare: ({ listed }) => {
        fillRuns(listed);
        listed.decidesAgain = false;
      },
    });
    await trial().getByText("Its author can set replayRuns.").waitFor();
    expect(await text().isVisible()).toBe(false);
  });

  it("speaks German to a person whose browser prefers it", async () => {
    await openRuns({ at: "runs#run_paid", reader: { locale: "de-AT" } });
    const run = visit.page.getByRole("article", { name: "Lauf" });
    await run.getByRole("heading", { name: "Das Modell hat geantwortet." }).waitFor();
    expect(await visit.page.title()).toBe("Läufe · Interlock");
    await run.getByText("2 h, davon 2 h für Personen").waitFor();
    await run
      .getByText(/die Prüfung policy hat ihn beendet: die Regeln erlauben das Werkzeug nicht/i)
      .first()
      .waitFor();
    await run.getByText("Die Wirkung trat ein und wurde rückgängig gemacht.").waitFor();
    await run.getByText("user:cat hat abgestimmt: approve (checked with the bank)").waitFor();
    await visit.page.locator("summary", { hasText: "Kosten" }).click();
    await visit.page.getByRole("table", { name: "Kosten je Tag in EUR" }).waitFor();
    await visit.page.getByText("0,5 EUR").first().waitFor();
  });

  it("keeps hostile texts texts, fits a phone, and has a contrast of 4.5 to 1", async () => {
    const hostile = `<img src=x onerror="alert(1)">\u202e${"unbroken".repeat(20)}`;
    await openRuns({
      at: "runs#run_paid",
      viewport: { width: 360, height: 640 },
      prepare: ({ listed }) => listed.put(paidRun({ hostile })),
    });
    await trace()
      .getByRole("heading", { name: /onerror.*⟦U\+202E⟧/ })
      .waitFor();
    expect(await visit.inside(`(root) => root.querySelectorAll("img").length`)).toBe(0);
    expect(await visit.inside(WIDER_THAN_ITS_BOX)).toEqual([]);
    await expectContrast(60);
  });
});

import { expect, it } from "vitest";
import type { Visit, VisitOptions } from "./open-page.ts";
import { fillQueue } from "./scripted-queue.ts";
import { usePage } from "./use-page.ts";

let visit: Visit;
const openPage = usePage((opened) => {
  visit = opened;
});

function open({ prepare, ...options }: VisitOptions = {}): Promise<void> {
  const fill: VisitOptions["prepare"] = (api) => {
    fillQueue(api);
    api.outcomes.put("run_a", { args: { subject: "<img src=x onerror=alert(1)>", pay: 3 } });
    prepare?.(api);
  };
  return openPage({ at: "approvals#outcomes", prepare: fill, ...options }).then(openFirst);
}

const entries = () =>
  visit.page.getByRole("list", { name: /^(?:Outcomes|Ergebnisse)$/ }).getByRole("button");

/** Opens the call that is listed, where the reader may see it. */
async function openFirst(): Promise<void> {
  if (!visit.api.outcomes.isForbidden) await entries().first().click();
}

const section = () => visit.page.getByRole("article");
const button = (name: string) => section().getByRole("button", { name, exact: true });
const reports = () => visit.api.requestsTo(/POST .*\/outcome$/);

it("shows a call with an unknown outcome: its tool, arguments, attempts, times and what to look at", async () => {
  await open();
  await section().getByText("desk__open_ticket", { exact: true }).first().waitFor();
  for (const text of ["<img src=x onerror=alert(1)>", "user:cleo", "3 attempts"]) {
    await section().getByText(text).waitFor();
  }
  await section().getByText("Look into the system that the tool writes to").waitFor();
  await section().getByText("the run ends as failed").waitFor();
});

it.each([
  ["It happened", "committed"],
  ["It did not happen", "not_committed"],
])("reports '%s' after a confirmation, once", async (name, outcome) => {
  await open();
  await button(name).click();
  expect(reports()).toHaveLength(0);
  await section().getByText("Nobody can change this report.").waitFor();
  await button("Confirm").click();
  await section().getByText("Reported. The run continues.").waitFor();
  expect(reports().map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
    ["/v1/runs/run_a/invocations/inv_1/outcome", { outcome }],
  ]);
  // The list still names the call for a moment, and the page does not show it again.
  await visit.page.getByRole("button", { name: "Refresh" }).click();
  await expect.poll(() => entries().count()).toBe(0);
  expect(await button(name).count()).toBe(0);
});

it("shows what was expected and found after a completed call, and takes that somebody looked", async () => {
  const found = { target: "tickets/7", found: { status: "<b>lost</b>" } };
  await open({ prepare: (api) => api.outcomes.put("run_a", { found }) });
  await section().getByText("it was not the expected one").waitFor();
  await section().getByText("<b>lost</b>").waitFor();
  expect(await button("It happened").count()).toBe(0);
  await button("I have looked").click();
  await button("Confirm").click();
  await section().getByText("Reported.", { exact: true }).waitFor();
  expect(reports().map(({ body }) => JSON.parse(body))).toEqual([{ outcome: "reviewed" }]);
});

it("shows a call again whose undo failed again after the report", async () => {
  const undo = { runId: "run_undo", toolId: "desk__close_ticket" };
  await open({ prepare: (api) => api.outcomes.put("run_a", { undo }) });
  await button("It is not undone").click();
  await button("Confirm").click();
  await section().getByText("Reported.", { exact: true }).waitFor();
  await expect.poll(() => button("It is not undone").count()).toBe(0);
  visit.api.outcomes.put("run_a", {
    undo: { ...undo, runId: "run_undo_2" },
    until: new Date(Date.now() + 7_200_000).toISOString(),
  });
  await visit.page.getByRole("button", { name: "Refresh" }).click();
  await entries().first().click();
  await button("It is not undone").waitFor();
});

it("reports nothing when the reader goes back", async () => {
  await open();
  await button("It happened").click();
  await button("Back").click();
  await button("It did not happen").waitFor();
  expect(reports()).toHaveLength(0);
});

it("tells that another operator was first, and shows the call no more", async () => {
  await open({
    prepare: ({ outcomes }) => {
      const title = "This outcome is not awaited";
      outcomes.onSettle = () => ({ status: 409, body: { code: "outcome_not_awaited", title } });
    },
  });
  await button("It happened").click();
  await button("Confirm").click();
  await section().getByText("This outcome is not awaited").waitFor();
  await expect.poll(() => button("It happened").count()).toBe(0);
});

it("keeps a call whose report did not arrive, so that it can be sent again", async () => {
  await open({
    prepare: ({ outcomes }) => {
      outcomes.onSettle = () => ({
        status: 503,
        body: { code: "policy_unavailable", title: "Try again later" },
      });
    },
  });
  await button("It happened").click();
  await button("Confirm").click();
  await section().getByText("Try again later").waitFor();
  await button("It happened").waitFor();
});

it("has no tab for a reader without the scope, who still sees the queue", async () => {
  const prepare: VisitOptions["prepare"] = (api) => {
    fillQueue(api);
    api.outcomes.isForbidden = true;
  };
  await openPage({ at: "approvals", prepare });
  await visit.page.getByRole("button", { name: /Send a mail/ }).waitFor();
  await expect.poll(() => visit.api.requestsTo(/outcomes/).length).toBeGreaterThan(0);
  expect(await visit.page.getByRole("tab", { name: /Outcomes/ }).isVisible()).toBe(false);
});

it("asks whether a call is undone when undoing it failed", async () => {
  await open({
    prepare: (api) =>
      api.outcomes.put("run_a", { undo: { runId: "run_b", toolId: "desk__close_ticket" } }),
  });
  await section().getByText("This call happened, and undoing it failed.").waitFor();
  await button("It is undone").click();
  await button("Confirm").click();
  await section().getByText("Reported.", { exact: true }).waitFor();
  expect(reports().map(({ body }) => JSON.parse(body) as object)).toEqual([
    { outcome: "committed" },
  ]);
});

it("names the saga that could not undo a step, and the other steps that stay", async () => {
  const stays = [{ invocationId: "inv_2", toolId: "desk__<b>book</b>" }];
  const saga = { invocationId: "inv_1", toolId: "desk__close_desk", stays };
  const undo = { runId: "run_a", toolId: "desk__close_ticket", saga };
  await open({ prepare: (api) => api.outcomes.put("run_a", { undo }) });
  await section().getByText("is a step of desk__close_desk, which failed").waitFor();
  await section().getByText("These steps stay too: desk__<b>book</b>.").waitFor();
  await button("It is undone").waitFor();
});

it("speaks German to a person who prefers it, and loads the German texts only then", async () => {
  const loaded = (): Promise<boolean> =>
    visit.page.evaluate<boolean>(
      `performance.getEntriesByType("resource").some(({ name }) => name.endsWith("widget-de.js"))`,
    );
  await open();
  await button("It happened").waitFor();
  expect(await loaded()).toBe(false);
  await visit.close();
  await open({ reader: { locale: "de-AT" } });
  await button("Es ist geschehen").click();
  expect(await visit.page.title()).toBe("Pult der Operatoren · Interlock");
  await section().getByText("Niemand kann diese Meldung ändern.").waitFor();
  await section().getByText("3 Versuche").waitFor();
  await button("Bestätigen").click();
  await section().getByText("Gemeldet. Der Lauf geht weiter.").waitFor();
  expect([await loaded(), reports().length]).toEqual([true, 1]);
  await visit.page.getByRole("tab", { name: "Eskalationen" }).waitFor();
});

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { closePages, openBrowser } from "../../../test/shared/browser.ts";
import { startDev, type DevServer } from "../../../test/shared/dev-server.ts";
import { Person } from "../../../test/story/person.ts";

let server: DevServer;
let browser: Browser;
beforeAll(async () => {
  [server, browser] = await Promise.all([startDev(), openBrowser()]);
});
afterAll(async () => {
  await closePages(browser);
  await server?.end("SIGTERM");
});

/** A person at a device of their own, with a new chat. */
async function sitDown(name: string, device: "desktop" | "phone" = "desktop"): Promise<Person> {
  const person = await Person.sitDown(browser, device);
  await person.page.addInitScript(`sessionStorage["${chatOf(server.url)}"] ??= "{}"`);
  await person.page
    .context()
    .addCookies([{ name: "interlock-acting", value: name, url: server.url }]);
  return person;
}

const chatOf = (url: string) => `interlock-chat::${url}/:gameplan:chat`;
const project = ({ page }: Person) => page.getByRole("main", { name: "Project" });
const cards = ({ page }: Person) => page.getByRole("log").getByRole("group");
const section = ({ page }: Person, name: string) =>
  page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name }).click();
const heading = (person: Person, name: string) =>
  project(person).getByRole("heading", { name, level: 2 }).waitFor();

test("a newcomer plans a game, deletes after reading what goes, and takes it back", async () => {
  const ann = await sitDown("developer");
  await ann.page.setViewportSize({ width: 1240, height: 860 });
  const bob = await sitDown("bob", "phone");
  await makeExample(ann);
  await bobWatches(bob);
  await addAndPlan(ann);
  await bobSeesTheGraph(bob);
  await deleteAndUndo(ann, bob);
  await editByHand(ann, bob);
  await makeDocument(ann);
  await comesBack(ann);
  for (const { complaints } of [ann, bob]) expect(complaints).toEqual([]);
}, 240_000);

async function makeExample(ann: Person): Promise<void> {
  await ann.page.goto(`${server.url}/gameplan`);
  await heading(ann, "There is no project yet");
  await ann.page.getByRole("button", { name: "Make an example project" }).click();
  await project(ann)
    .getByRole("link", { name: /Room Generator/ })
    .waitFor();
}

async function bobWatches(bob: Person): Promise<void> {
  await bob.page.goto(`${server.url}/gameplan`);
  await project(bob)
    .getByRole("link", { name: /Movement/ })
    .waitFor();
  await section(bob, "Graph");
  await project(bob)
    .getByRole("img", { name: /4 systems, 3 dependencies/ })
    .waitFor();
}

async function addAndPlan(ann: Person): Promise<void> {
  await ann.ask("Add a Combat Engine that requires Movement, then plan version 0.1");
  await ann.page.getByRole("log").getByText("Version 0.1 builds Movement first.").waitFor();
  await cards(ann).filter({ hasText: 'Created game system "Combat Engine"' }).waitFor();
  // Four calls, and the three steps of the plan: folded on its card, which has the one Undo.
  expect(await ann.page.getByRole("log").locator("details.tool").count()).toBe(7);
  expect(await ann.page.getByRole("log").locator("details.tool:visible").count()).toBe(4);
  const plan = cards(ann).filter({ hasText: "Created version plan 0.1" }).first();
  await plan.getByText("3 steps").click();
  await plan.getByText("Drafted version plan 0.1").waitFor();
  await expect.poll(() => plan.getByRole("button", { name: /^Undo/ }).count()).toBe(1);
  await plan.getByText("3 steps").click();
  // The project changed beside the chat, without a reload.
  await project(ann)
    .getByRole("link", { name: /Combat Engine/ })
    .waitFor();
  await section(ann, "Plans");
  await project(ann).getByRole("link", { name: /0\.1/ }).click();
  const phases = project(ann).getByRole("list", { name: "Phases" });
  await expect.poll(() => phases.getByText(/^Phase \d$/).count()).toBe(2);
  await ann.picture("gameplan-plan");
}

async function bobSeesTheGraph(bob: Person): Promise<void> {
  await project(bob)
    .getByRole("img", { name: /5 systems, 4 dependencies/ })
    .waitFor();
  await project(bob).getByText("requires Movement").last().waitFor();
  await bob.picture("gameplan-phone");
  await bob.page.getByRole("button", { name: "Chat", exact: true }).click();
  await bob.page.getByRole("textbox", { name: "Message" }).waitFor();
  await bob.page.getByRole("button", { name: "Project", exact: true }).click();
}

async function deleteAndUndo(ann: Person, bob: Person): Promise<void> {
  await section(ann, "Graph");
  await ann.ask("Delete the Movement system");
  await ann.card.waitFor();
  await ann.sees('Delete game system "Movement"');
  await ann.sees("Combat Engine requires it");
  await ann.sees("Room Generator requires it");
  await ann.sees(/0\.1/);
  await expect.poll(() => ann.button("Approve").isDisabled()).toBe(false);
  await ann.picture("gameplan-approval");
  expect(await ann.decide("Approve")).toBe(200);
  await project(ann)
    .getByRole("img", { name: /4 systems/ })
    .waitFor();
  await project(bob)
    .getByRole("img", { name: /4 systems/ })
    .waitFor();
  await bob.page
    .getByText(/developer: .*Movement/)
    .first()
    .waitFor();
  // The card offers Undo before somebody undoes the call elsewhere.
  await deletionCard(ann).getByRole("button", { name: /^Undo/ }).waitFor();
  const news = ann.page.getByRole("status").filter({ hasText: "Hide" });
  await news.getByRole("button", { name: /^Undo: .*Movement/ }).click();
  await project(ann)
    .getByRole("img", { name: /5 systems, 4 dependencies/ })
    .waitFor();
  await project(bob)
    .getByRole("img", { name: /5 systems, 4 dependencies/ })
    .waitFor();
  await ann.page
    .getByText(/Restored .*Movement/)
    .first()
    .waitFor();
  await cardSaysUndone(ann);
  await ann.picture("gameplan-graph");
}

const deletionCard = (person: Person) =>
  cards(person).filter({ hasText: 'Deleted game system "Movement"' });

/** Undo above the part is that of the call, so the card in the chat offers it no more. */
async function cardSaysUndone(ann: Person): Promise<void> {
  await deletionCard(ann).getByText("Undone.", { exact: true }).waitFor();
  const undo = deletionCard(ann).getByRole("button", { name: /^Undo/ });
  expect(await undo.count()).toBe(0);
}

/** By hand, without the chat: the same tools, so the same activity and the same undo. */
async function editByHand(ann: Person, bob: Person): Promise<void> {
  await section(ann, "Systems");
  await project(ann)
    .getByRole("link", { name: /Treasure/ })
    .click();
  await project(ann).getByRole("button", { name: "Edit", exact: true }).click();
  await project(ann).getByLabel("Purpose").fill("Chests that **bite**.");
  await project(ann).getByLabel("Status").selectOption("Active");
  await ann.page.getByRole("button", { name: "Save" }).click();
  await project(ann).getByText("bite", { exact: true }).waitFor();
  await bob.page
    .getByText(/developer: Updated .*"Treasure": Edited status, purpose/)
    .first()
    .waitFor();
  const news = ann.page.getByRole("status").filter({ hasText: "Hide" });
  await news.getByRole("button", { name: /^Undo: Updated .*Treasure/ }).click();
  await project(ann).getByText("Chests and drops, rarer in deeper rooms.").waitFor();
}

async function makeDocument(ann: Person): Promise<void> {
  await section(ann, "Exports");
  await ann.page.getByRole("button", { name: "Make a design document" }).click();
  // The document is shown before anybody downloads it.
  await project(ann).getByLabel("Preview").getByText("# Dungeon Crawler").waitFor();
  const saved = ann.page.waitForEvent("download");
  await project(ann)
    .getByRole("button", { name: /^Download / })
    .first()
    .click();
  const chunks: Buffer[] = [];
  for await (const chunk of await (await saved).createReadStream()) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  for (const name of ["Dungeon Crawler", "Movement", "Combat Engine"]) expect(text).toContain(name);
}

async function comesBack(ann: Person): Promise<void> {
  await ann.page.reload();
  await heading(ann, "Dungeon Crawler: Game design document");
  await project(ann)
    .getByRole("button", { name: /^Download / })
    .first()
    .waitFor();
  await cards(ann).filter({ hasText: 'Created game system "Combat Engine"' }).waitFor();
  await cardSaysUndone(ann);
}

test("the keyboard is enough to ask, to agree and to take back", async () => {
  const ann = await sitDown("developer");
  const { page } = ann;
  await page.goto(`${server.url}/gameplan`);
  await project(ann)
    .getByRole("link", { name: /Treasure/ })
    .waitFor();
  await page.getByRole("textbox", { name: "Message" }).focus();
  await page.keyboard.type("Delete the Treasure system");
  await page.keyboard.press("Enter");
  await ann.card.waitFor();
  await expect.poll(() => ann.button("Approve").isDisabled()).toBe(false);
  await tabTo(ann, "Approve");
  await page.keyboard.press("Enter");
  await page.getByRole("log").getByText("is in the bin. Select Undo").waitFor();
  const undo = page.getByRole("button", { name: /^Undo: .*Treasure/ });
  await undo.waitFor();
  await tabTo(ann, "Undo");
  await page.keyboard.press("Enter");
  await project(ann)
    .getByRole("link", { name: /Treasure/ })
    .waitFor();
  expect(ann.complaints).toEqual([]);
}, 120_000);

/** Presses Tab until the focus is on the button with this text. */
async function tabTo({ page }: Person, text: string): Promise<void> {
  const focused = (): Promise<string> =>
    page.evaluate(`(() => {
      let active = document.activeElement;
      while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
      return active?.textContent.trim() ?? "";
    })()`);
  for (let presses = 0; presses < 80; presses += 1) {
    if ((await focused()) === text) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`no focus on ${text}`);
}

test("a question that a colleague made pointless closes by itself, with the reason", async () => {
  const [ann, bob] = [await sitDown("developer"), await sitDown("bob", "phone")];
  await ann.page.setViewportSize({ width: 1400, height: 900 });
  await bob.page.setViewportSize({ width: 390, height: 844 });
  for (const person of [ann, bob]) {
    await person.page.goto(`${server.url}/gameplan`);
    await project(person)
      .getByRole("link", { name: /Inventory/ })
      .waitFor();
  }
  await ann.ask("Delete the Inventory system");
  await ann.sees('Delete game system "Inventory"');
  await approveIsInSight(ann);
  await project(bob)
    .getByRole("link", { name: /Inventory/ })
    .click();
  await bob.page.getByRole("button", { name: "Move to bin" }).click();
  await expect.poll(() => bob.button("Approve").isDisabled()).toBe(false);
  await approveIsInSight(bob);
  await bob.button("Approve").click();
  // Nobody votes on the question of the chat.
  await ann.sees(/^Closed by itself, because the call cannot succeed any more: /);
  await ann.page.getByRole("log").getByText("That did not succeed.").waitFor();
  await section(bob, "Bin");
  await bob.page
    .getByRole("button", { name: /^Restore/ })
    .first()
    .click();
  await project(ann)
    .getByRole("link", { name: /Inventory/ })
    .waitFor();
  for (const { complaints } of [ann, bob]) expect(complaints).toEqual([]);
}, 120_000);

/** Nobody has scrolled yet, and the button lies whole within the window. */
async function approveIsInSight(person: Person): Promise<void> {
  const { height = 0 } = person.page.viewportSize() ?? {};
  await expect
    .poll(async () => {
      const box = await person.button("Approve").boundingBox();
      return box !== null && box.y >= 0 && box.y + box.height <= height;
    })
    .toBe(true);
}

test("the card of a call takes it back, and the project follows", async () => {
  const ann = await sitDown("developer");
  await ann.page.goto(`${server.url}/gameplan#//ideas`);
  await heading(ann, "Ideas");
  await ann.ask("Start a thread about the dragon");
  await project(ann)
    .getByRole("link", { name: /dragon/i })
    .waitFor();
  await cards(ann).getByRole("button", { name: /^Undo/ }).click();
  await project(ann)
    .getByRole("link", { name: /dragon/i })
    .waitFor({ state: "detached" });
  expect(ann.complaints).toEqual([]);
}, 120_000);

test("the bin is emptied after two other people agreed", async () => {
  const ann = await sitDown("developer");
  await ann.page.goto(`${server.url}/gameplan#//ideas`);
  await heading(ann, "Ideas");
  await ann.ask("Start a thread about the moat");
  await project(ann).getByRole("link", { name: /moat/i }).waitFor();
  await cards(ann).getByRole("button", { name: /^Undo/ }).click();
  await section(ann, "Bin");
  await ann.page.getByRole("button", { name: "Empty the bin" }).click();
  const asked = project(ann).locator("..").getByRole("dialog");
  await asked.getByRole("heading", { name: /^Empty the whole bin \(\d+ items?\)$/ }).waitFor();
  for (const name of ["bob", "cat"]) {
    const person = await sitDown(name);
    await person.page.goto(`${server.url}/approvals`);
    await person.open(/^Empty the whole bin/);
    expect(await person.approveCritical("gameplan__empty_bin")).toBe(200);
  }
  await project(ann).getByText("The bin is empty.").waitFor();
  const again = await fetch(`${server.url}/v1/tools/gameplan__empty_bin/invoke`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": "an-empty-bin" },
    body: JSON.stringify({ arguments: {} }),
  });
  // 202 would mean that people are asked.
  expect([again.status, await again.text()]).toEqual([200, expect.stringContaining("conflict")]);
  expect(ann.complaints).toEqual([]);
}, 120_000);

const PLAN_STEPS = ["validate_version_scope", "draft_version_plan", "add_plan_phases"];

test.each([
  ["Create a project called Puzzle Garden", ["create_project"], /Puzzle Garden/],
  [
    "Add a Crafting and a Weather system",
    ["create_game_system", "create_game_system"],
    /same time/,
  ],
  // The hints of the page and of its empty parts.
  ["Start a project for a dungeon game", ["create_project"], /Dungeon Game/],
  ["Add a Combat Engine.", ["create_game_system"], /Combat Engine/],
  ["Crafting requires Weather", ["list_game_systems", "add_dependency"], /now requires/],
  [
    "Plan version 0.7.",
    ["list_game_systems", "create_version_plan", ...PLAN_STEPS],
    /order of building/,
  ],
  ["Which systems does it have?", ["list_game_systems"], /Movement/],
  ["Show the dependency graph", ["get_dependency_graph"], /built first/],
  ["What depends on Movement?", ["list_game_systems", "get_impact_analysis"], /Movement/],
  ["Start a thread about the boss fight", ["create_idea_thread"], /thread is open/],
  ["Make a design document", ["generate_export"], /download/],
  ["Import this: # Stealth\n\nThe hero hides.", ["import_system_from_markdown"], /imported/],
])("the offline model answers about a game: %s", async (content, tools, answer) => {
  const read = await fetch(`${server.url}/v1/tools/gameplan__list_projects/invoke`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ arguments: {} }),
  });
  const found = /"id":"([^"]+)","name":"Dungeon Crawler"/.exec(await read.text());
  const response = await fetch(`${server.url}/v1/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      messages: [{ role: "user", content }],
      context: { page: "GamePlan", projectId: found?.[1] },
      assistantId: "gameplan",
    }),
  });
  const stream = await response.text();
  const text = [...stream.matchAll(/"textDelta":"((?:[^"\\]|\\.)*)"/g)]
    .map(([, delta]) => JSON.parse(`"${delta}"`) as string)
    .join("");
  expect(text.replaceAll("\n", " ")).toMatch(answer);
  const run = await fetch(`${server.url}/v1/runs/${response.headers.get("x-run-id")}`);
  const { toolCalls } = await run.json<{ toolCalls: readonly { readonly name: string }[] }>();
  expect(toolCalls.map(({ name }) => name.replace("gameplan__", ""))).toEqual(tools);
});

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { closePages, openBrowser } from "../../../scripts/browser.ts";
import { startDev, type DevServer } from "../../../test/shared/dev-server.ts";
import { Person } from "../../../test/story/person.ts";
import {
  addAndPlan,
  bobSeesTheGraph,
  bobWatches,
  comesBack,
  deleteAndUndo,
  editByHand,
  findWhatWasAsked,
  makeDocument,
  makeExample,
} from "./newcomer-steps.ts";
import { cards, heading, project, section } from "./on-page.ts";

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
/** Answers the projects as the server lists them. */
async function listProjects(): Promise<string> {
  const read = await fetch(`${server.url}/v1/tools/gameplan__list_projects/invoke`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ arguments: {} }),
  });
  return read.text();
}

/** Makes the example project, where no test before did. */
async function haveExample(): Promise<void> {
  if ((await listProjects()).includes("Dungeon Crawler")) return;
  await makeExample(await sitDown("developer"), server.url);
}

test("a newcomer plans a game, deletes after reading what goes, and takes it back", async () => {
  const ann = await sitDown("developer");
  await ann.page.setViewportSize({ width: 1240, height: 860 });
  const bob = await sitDown("bob", "phone");
  await makeExample(ann, server.url);
  await bobWatches(bob, server.url);
  await addAndPlan(ann);
  await bobSeesTheGraph(bob);
  await deleteAndUndo(ann, bob);
  await findWhatWasAsked(ann, bob);
  await editByHand(ann, bob);
  await makeDocument(ann);
  await comesBack(ann);
  for (const { complaints } of [ann, bob]) expect(complaints).toEqual([]);
}, 240_000);

test("the keyboard is enough to ask, to agree and to take back", async () => {
  await haveExample();
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
  await haveExample();
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
  await haveExample();
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
  await haveExample();
  const ann = await sitDown("developer");
  await ann.page.goto(`${server.url}/gameplan#//ideas`);
  await heading(ann, "Ideas");
  await ann.ask("Start a thread about the moat");
  await project(ann).getByRole("link", { name: /moat/i }).waitFor();
  await cards(ann).getByRole("button", { name: /^Undo/ }).click();
  // Else the question about the bin would be asked anew, because it shows what is in it.
  await cards(ann).getByText("Undone.", { exact: true }).waitFor();
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
  await haveExample();
  const found = /"id":"([^"]+)","name":"Dungeon Crawler"/.exec(await listProjects());
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

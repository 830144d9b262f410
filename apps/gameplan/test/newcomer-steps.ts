import { expect } from "vitest";
import type { Person } from "../../../test/story/person.ts";
import { cards, heading, project, section } from "./on-page.ts";

/** The steps of a newcomer who plans a game, and of bob who watches on a phone. */

export async function makeExample(ann: Person, url: string): Promise<void> {
  await ann.page.goto(`${url}/gameplan`);
  await heading(ann, "There is no project yet");
  await ann.page.getByRole("button", { name: "Make an example project" }).click();
  await project(ann)
    .getByRole("link", { name: /Room Generator/ })
    .waitFor();
}

export async function bobWatches(bob: Person, url: string): Promise<void> {
  await bob.page.goto(`${url}/gameplan`);
  await project(bob)
    .getByRole("link", { name: /Movement/ })
    .waitFor();
  await section(bob, "Graph");
  await project(bob)
    .getByRole("img", { name: /4 systems, 3 dependencies/ })
    .waitFor();
}

export async function addAndPlan(ann: Person): Promise<void> {
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

export async function bobSeesTheGraph(bob: Person): Promise<void> {
  await project(bob)
    .getByRole("img", { name: /5 systems, 4 dependencies/ })
    .waitFor();
  await project(bob).getByText("requires Movement").last().waitFor();
  await bob.picture("gameplan-phone");
  // The choice of a person of `npm run dev` covers nothing.
  for (const name of ["Project", "Acting as"]) {
    await bob.page.getByRole("combobox", { name }).click({ trial: true });
  }
  await bob.page.getByRole("button", { name: "Chat", exact: true }).click();
  await bob.page.getByRole("textbox", { name: "Message" }).waitFor();
  await bob.page.getByRole("button", { name: "Project", exact: true }).click();
}

export async function deleteAndUndo(ann: Person, bob: Person): Promise<void> {
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

/** Who asked what, with which result. What ann asked is read by ann alone. */
export async function findWhatWasAsked(ann: Person, bob: Person): Promise<void> {
  await section(ann, "Questions");
  const asked = project(ann).getByRole("link", { name: /^Add a Combat Engine that requires/ });
  for (const text of ["Completed", "developer", /Version 0\.1 builds Movement first/]) {
    await asked.getByText(text).waitFor();
  }
  await ann.picture("gameplan-questions");
  await asked.getByText("create version plan").waitFor();
  expect(await asked.getAttribute("href")).toMatch(/^runs#run_/);
  await section(bob, "Questions");
  await project(bob).getByRole("heading", { name: "Questions" }).waitFor();
  await expect.poll(() => project(bob).getByText("Reading…").count()).toBe(0);
  expect(await project(bob).getByText("Combat Engine that requires").count()).toBe(0);
}

/** By hand, without the chat: the same tools, so the same activity and the same undo. */
export async function editByHand(ann: Person, bob: Person): Promise<void> {
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

export async function makeDocument(ann: Person): Promise<void> {
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

export async function comesBack(ann: Person): Promise<void> {
  await ann.page.reload();
  await heading(ann, "Dungeon Crawler: Game design document");
  await project(ann)
    .getByRole("button", { name: /^Download / })
    .first()
    .waitFor();
  await cards(ann).filter({ hasText: 'Created game system "Combat Engine"' }).waitFor();
  await cardSaysUndone(ann);
}

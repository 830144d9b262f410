import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findBarriers, findWide, startAxe } from "./find-barriers.ts";
import type { Visit } from "./open-page.ts";
import * as say from "./run-events.ts";
import { createApproval } from "./scripted-approvals.ts";
import { fillQueue, titled } from "./scripted-queue.ts";
import { fillRuns } from "./scripted-runs.ts";
import { usePage } from "./use-page.ts";

let visit: Visit;
const open = usePage((opened) => {
  visit = opened;
});

/** A laptop; half of it, which is 200 % zoom, in the dark; forced colours on a phone. */
const VIEWS = {
  light: [{ colorScheme: "light" }, { width: 1280, height: 900 }],
  "dark, at 200 % zoom": [{ colorScheme: "dark" }, { width: 640, height: 450 }],
  "forced colours": [
    { colorScheme: "light", forcedColors: "active" },
    { width: 390, height: 780 },
  ],
} as const;

/** Looks at one open page in each view: axe starts slowly, and what it has compiled stays. */
async function expectAccess(): Promise<void> {
  const { page } = visit;
  await startAxe(page);
  for (const [view, [media, size]] of Object.entries(VIEWS)) {
    await page.emulateMedia(media);
    await page.setViewportSize(size);
    const found = { view, barriers: await findBarriers(page), wide: await findWide(page) };
    expect(found).toEqual({ view, barriers: [], wide: [] });
  }
  expect(visit.takeComplaints().filter((text) => !/axe|trusted/i.test(text))).toEqual([]);
}

const ANSWER = [
  "# Offer\n\nA **good** day, with `code` and [a link](https://example.com/).",
  "- one\n- two\n\n| a | b |\n| - | - |\n| 1 | 2 |",
  "```ts\nconst a = 1;\n```",
  "مرحبا بالعالم",
].join("\n\n");

/** Each page, and how a test brings it to what is checked. */
const PAGES: Readonly<Record<string, () => Promise<void>>> = {
  async "an empty chat"() {
    await open();
    await visit.page.getByLabel("Message").waitFor();
  },
  async "a chat with an answer, a call and an approval"() {
    await open();
    const approval = createApproval({ part: 2, packet: titled("Send a mail") });
    visit.api.approvals.put(approval);
    const run = await visit.ask("שלום. What is new?");
    run.emit(say.startText(0), say.text(0, ANSWER), say.finishText(0));
    run.emit(say.proposeTool(1, "desk__find"), say.startTool(1, { query: "מרחב" }));
    run.emit(say.finishTool(1, { found: "nothing", list: ["a", "b"] }));
    run.emit(say.proposeTool(2, "mail__send"), say.requestApproval(approval));
    run.emit(say.waitForApproval());
    await visit.page.getByRole("button", { name: "Approve" }).waitFor();
    await visit.page.getByRole("table").first().waitFor();
  },
  async "the desk with an approval"() {
    await open({ at: "approvals#appr_mail", prepare: fillDesk });
    await visit.page.getByRole("dialog", { name: "Send a mail" }).waitFor();
  },
  async "the desk with its lists"() {
    await open({ at: "approvals#outcomes", prepare: fillDesk });
    await visit.page.getByRole("list", { name: "Outcomes" }).getByRole("button").waitFor();
    await visit.page.getByRole("tabpanel").getByText("More filters").click();
  },
  async "an outcome of the desk, and its keys"() {
    await open({ at: "approvals#run_a/inv_1", prepare: fillDesk });
    await visit.page.getByRole("article").waitFor();
    await visit.page.keyboard.press("?");
    await visit.page.getByRole("dialog", { name: "Keys" }).waitFor();
  },
  async "a run"() {
    await open({ at: "runs#run_paid", prepare: ({ listed }) => fillRuns(listed) });
    await visit.page.getByRole("article", { name: "Run" }).waitFor();
  },
  async "a policy on trial"() {
    await open({ at: "runs#policy", prepare: ({ listed }) => fillRuns(listed) });
    await visit.page.getByLabel("Changed policy").fill('{"allowedTools":[]}');
    await visit.page.getByRole("button", { name: "Try it on the last calls" }).click();
    await visit.page.getByRole("table").first().waitFor();
  },
  async GamePlan() {
    await open({ at: "gameplan" });
    await visit.page.getByText("Combat Engine").first().waitFor();
  },
  async "the reference of the API"() {
    await open();
    const built = (file: string) =>
      readFileSync(join(import.meta.dirname, "../../dist/public", file));
    await visit.page.route(/\/docs(\.css)?$/, (route) => {
      const isStyle = route.request().url().endsWith(".css");
      const contentType = isStyle ? "text/css" : "text/html; charset=utf-8";
      return route.fulfill({ contentType, body: built(isStyle ? "docs.css" : "docs.html") });
    });
    await visit.page.goto(new URL("/docs", visit.page.url()).href);
    expect(await findWide(visit.page)).toEqual([]);
    expect(await visit.page.evaluate(KEEP_ONE_OF_A_KIND)).toBeGreaterThan(1);
  },
};

/** Removes each route of the reference that has no element in a place where no other has it. */
const KEEP_ONE_OF_A_KIND = `{
  const seen = new Set();
  for (const section of document.querySelectorAll("main section")) {
    const places = [...section.querySelectorAll("*")].map(
      ({ localName, parentElement, className }) =>
        [parentElement.localName, localName, className].join(" "));
    if (places.every((place) => seen.has(place))) section.remove();
    for (const place of places) seen.add(place);
  }
  document.querySelectorAll("main section").length;
}`;

function fillDesk(api: Parameters<typeof fillQueue>[0]): void {
  fillQueue(api);
  api.outcomes.put("run_a", { args: { subject: "Refund", pay: 3 } });
  api.escalations.put("esc_1");
}

it.each(Object.entries(PAGES))(
  "%s meets WCAG 2.2 AA and good practice, and fits its width",
  async (_, show) => {
    await show();
    await expectAccess();
  },
);

it("moves nothing for a reader who wants no motion", async () => {
  await open();
  const run = await visit.ask("Hello");
  run.emit(say.startText(0), say.text(0, "Good day"));
  await visit.page.getByText("Good day").first().waitFor();
  const moving = `(root) => root.getAnimations().filter(({ playState }) => playState === "running")
    .map(({ animationName, transitionProperty }) => animationName ?? transitionProperty)`;
  expect(await visit.inside<string[]>(moving)).toEqual([]);
});

it("tells a screen reader that an answer begins, and then the whole answer, never each piece", async () => {
  await open();
  const said = `(root) => {
    window.said = [];
    const live = root.querySelector("p.sr");
    new MutationObserver(() => window.said.push(live.textContent)).observe(live,
      { childList: true, characterData: true, subtree: true });
    return live.getAttribute("aria-live") ?? "polite";
  }`;
  expect(await visit.inside<string>(said)).toBe("polite");
  const run = await visit.ask("Hello");
  run.emit(say.startText(0));
  for (const piece of ["One ", "sentence. ", "And ", "another."]) run.emit(say.text(0, piece));
  run.emit(say.finishText(0), say.end());
  await expect
    .poll(async () => (await visit.page.evaluate<string[]>("window.said")).at(-1))
    .toMatch(/^Answer: One sentence\. And another\./);
  const all = await visit.page.evaluate<string[]>("window.said");
  expect(all.filter((text) => text.includes("One"))).toHaveLength(1);
});

it("reads a message from right to left where its text does", async () => {
  await open();
  const run = await visit.ask("שלום עולם");
  run.emit(say.startText(0), say.text(0, "مرحبا بالعالم"), say.finishText(0), say.end());
  await visit.page.getByText("مرحبا بالعالم").last().waitFor();
  const styles = `(root) => [".question p", ".text p"].map((of) => {
    const { direction, unicodeBidi } = getComputedStyle(root.querySelector(of));
    return unicodeBidi === "plaintext" ? "by its letters" : direction;
  })`;
  expect(await visit.inside<string[]>(styles)).toEqual(["rtl", "by its letters"]);
});

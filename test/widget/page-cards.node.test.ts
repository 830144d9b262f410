import { describe, expect, it } from "vitest";
import { blocksIn } from "../docs/code-blocks.ts";
import type { Visit } from "./open-page.ts";
import * as say from "./run-events.ts";
import { usePage } from "./use-page.ts";
import { startWaitingRun } from "./waiting-run.ts";

let visit: Visit;
const open = usePage((opened) => {
  visit = opened;
});

/** Opens the chat of an embedder, whose page runs one more script. */
async function openWith(script: string): Promise<void> {
  await open({ prepare: (api) => api.scripts.set("/cards.js", script) });
  await visit.page.evaluate('import("/cards.js")');
}

/** Defines a card of the tool `shop__find_order`. */
const cardOf = (body: string): string =>
  `import { defineToolCard } from "/widget.js"; defineToolCard("shop__find_order", { ${body} });`;

const example = (): string =>
  blocksIn("js").find(({ text }) => text.includes("defineToolCard("))?.text ?? "";
const ORDER = { id: "7/7", state: "packed", items: [{ count: 2, name: "<b>cup</b>" }] };
const card = () => visit.page.getByRole("log").getByRole("group");

async function findOrder(result = ORDER) {
  const run = await visit.ask("Where is my order?");
  run.emit(say.proposeTool(0, "shop__find_order"), say.startTool(0, { orderId: "7/7" }));
  run.emit(say.reportProgress(0, { stage: "the_shelves" }));
  return { run, finish: () => run.emit(say.finishTool(0, result), say.end()) };
}

describe("a card of a tool, as docs/embedding.md defines it", () => {
  it("shows title, progress and result of the tool's calls, and nothing of its input", async () => {
    await openWith(example());
    const { finish } = await findOrder();
    await card().getByText("Order 7/7").waitFor();
    await card().getByText("Searching: The shelves").waitFor();
    expect(await card().getByRole("progressbar").count()).toBe(0);
    finish();
    await card().getByText("packed").waitFor();
    expect(await card().getByRole("list", { name: "Items" }).allTextContents()).toEqual([
      "2 × <b>cup</b>",
    ]);
    const link = card().getByRole("link", { name: "Open the order" });
    expect(await link.getAttribute("href")).toBe("/orders/7%2F7");
    expect(await card().getByText("Input").count()).toBe(0);
    expect(await card().getByText("Searching").count()).toBe(0);
  });

  it("draws formatted text as the chat does, and markup in it stays text", async () => {
    const text = String.raw`## Boss\n\n**ann:** <img src=x onerror=alert(1)> [x](javascript:1)`;
    await openWith(cardOf(`result: () => [["markdown", {}, "${text}"]]`));
    const { finish } = await findOrder();
    finish();
    await card().getByRole("heading", { name: "Boss" }).waitFor();
    const words = card().getByText("<img src=x onerror=alert(1)> [x](javascript:1)");
    expect(await words.locator("strong").textContent()).toBe("ann:");
    expect(await card().locator("img, a").count()).toBe(0);
  });

  it("stands above an approval, and leaves the approval to the server", async () => {
    await openWith(example().replace("shop__find_order", "pay__refund"));
    await startWaitingRun(visit);
    const lead = visit.page.getByText("The shop's owner reads this order's address.");
    await lead.waitFor();
    await visit.page.getByRole("dialog").getByRole("button", { name: "Approve" }).waitFor();
  });

  it("leaves other tools as they are, and shows the errors of its own", async () => {
    await openWith(example());
    const run = await visit.ask("Where is my order?");
    run.emit(say.proposeTool(0, "shop__other"), say.startTool(0, { orderId: "8" }));
    run.emit(say.finishTool(0, { state: "sent" }));
    run.emit(say.proposeTool(1, "shop__find_order"), say.failTool(1, "No such zone."), say.end());
    await card().first().getByText("Input").waitFor();
    await card().first().getByText("sent").waitFor();
    await card().last().getByText("Time zone: No such zone.").waitFor();
  });
});

/** What a card cannot be, by the tool that has it. */
const BROKEN = {
  throws: 'throw new Error("broken")',
  script: 'return [["script", {}, "alert(1)"]]',
  frame: 'return [["iframe", {}]]',
  handler: 'return [["p", { onclick: "alert(1)" }, "x"]]',
  style: 'return [["p", { style: "position:fixed" }, "x"]]',
  id: 'return [["p", { id: "message" }, "x"]]',
  slot_of_the_chat: 'return [["slot", { name: "footer" }]]',
  link_to_a_script: 'return [["a", { href: "javascript:alert(1)" }, "x"]]',
  link_elsewhere: 'return [["a", { href: "https://evil.example/" }, "x"]]',
  link_without_a_scheme: 'return [["a", { href: "//evil.example/" }, "x"]]',
  html: 'return "<b>x</b>"',
  promise: "return Promise.resolve([])",
  no_node: "return [42]",
  too_many_nodes: 'return Array.from({ length: 3001 }, () => "x")',
};

it("a card that cannot be drawn is reported, and the default card is shown", async () => {
  const cards = Object.entries(BROKEN).map(
    ([name, body]) => `defineToolCard("shop__${name}", { result: () => { ${body}; } });`,
  );
  await openWith(`import { defineToolCard } from "/widget.js"; ${cards.join("")}`);
  const run = await visit.ask("Where is my order?");
  for (const [part, name] of Object.keys(BROKEN).entries()) {
    run.emit(say.proposeTool(part, `shop__${name}`), say.startTool(part, {}));
    run.emit(say.finishTool(part, { state: `state of ${name}` }));
  }
  run.emit(say.end());
  await visit.page.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden" });
  const shown = await card().filter({ hasText: "Result" }).allInnerTexts();
  const states = shown.map((text) => /state of (\w+)/.exec(text)?.[1]);
  expect(states).toEqual(Object.keys(BROKEN));
  await expect.poll(() => visit.complaints.length).toBe(states.length);
  visit.takeComplaints();
});

describe("defineToolCard", () => {
  it("refuses a second card of one tool", async () => {
    await openWith(cardOf(""));
    const second = visit.page.evaluate(
      'import("/widget.js").then((page) => page.defineToolCard("shop__find_order", {}))',
    );
    await expect(second).rejects.toThrow("The tool shop__find_order has a card already.");
  });
});

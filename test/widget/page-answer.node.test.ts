import { beforeEach, describe, expect, it } from "vitest";
import { lastRun, type Visit } from "./open-page.ts";
import * as say from "./run-events.ts";
import { usePage } from "./use-page.ts";

let visit: Visit;
const open = usePage((opened) => {
  visit = opened;
});
beforeEach(() => open());

const log = () => visit.page.getByRole("log");
const sees = (text: string | RegExp) => log().getByText(text).first().waitFor();
const answers = () => visit.page.getByRole("article", { name: "Assistant" });

const status = () =>
  visit.inside<string>(`(root) => root.querySelector("[role=status]").textContent`);

const SCROLLED = `(root) => root.querySelector("[role=log]").scrollTop`;
const FROM_END = `(root) => {
  const { scrollHeight, scrollTop, clientHeight } = root.querySelector("[role=log]");
  return scrollHeight - scrollTop - clientHeight;
}`;

const FORMATTED = [
  '  - heading "Prices" [level=2]',
  "  - paragraph:",
  "    - text: All are",
  "    - strong: net prices",
  '    - text: ", see"',
  '    - link "the list":',
  "      - /url: https://shop.example/list",
  "    - text: (shop.example).",
  "  - table:",
  "    - rowgroup:",
  '      - row "What Price":',
  '        - columnheader "What"',
  '        - columnheader "Price"',
  "    - rowgroup:",
  '      - row "Tea 2":',
  '        - cell "Tea"',
  '        - cell "2"',
  "  - list:",
  "    - listitem:",
  '      - checkbox "Done" [checked] [disabled]',
  "      - text: sold",
  "      - list:",
  "        - listitem: deep",
  "  - blockquote:",
  "    - paragraph: quoted",
  "  - text: js",
  '  - button "Copy code"',
  "  - code: const tea = 2;",
];

describe("an answer", () => {
  it("streams as text, under the title of its run", async () => {
    const run = await visit.ask("Hello?");
    await visit.page.getByRole("heading", { name: "Hello?" }).waitFor();
    run.emit(say.setTitle("A greeting"), say.startText(0), say.text(0, "Good "));
    await sees(/^Good/);
    run.emit(say.text(0, "**day**"), say.finishText(0), say.end());
    await answers().getByText("Good day").waitFor();
    await visit.page.getByRole("heading", { name: "A greeting" }).waitFor();
    expect(await answers().locator("strong").textContent()).toBe("day");
  });

  it("is formatted while it streams, and keeps what the reader selects", async () => {
    await visit.page.evaluate(
      `document.querySelector("interlock-chat").setAttribute("image-hosts", "pictures.example")`,
    );
    const run = await visit.ask("What do we sell?");
    run.emit(say.startText(0), say.text(0, "# Prices\n\nAll are **net"));
    await answers().locator("strong").getByText("net").waitFor();
    await visit.inside(`(root) => root.querySelector("strong").firstChild.isMarked = true`);
    run.emit(say.text(0, " prices**, see [the list](https://shop.example/list"));
    await answers().locator("strong").getByText("net prices").waitFor();
    expect(await answers().textContent()).not.toMatch(/\*|\[|shop/);
    expect(await visit.inside(`(root) => root.querySelector("strong").firstChild.isMarked`)).toBe(
      true,
    );
    run.emit(say.text(0, ").\n\n| What | Price |\n"));
    await answers().getByRole("columnheader", { name: "Price" }).waitFor();
    run.emit(say.text(0, "|-|-:|\n| Tea | 2 |\n\n- [x] sold\n  1. deep\n\n> quoted\n\n"));
    run.emit(
      say.text(0, "```js\nconst tea = 2;\n```\n\n![a cup](https://pictures.example/cup.svg)"),
    );
    run.emit(say.finishText(0), say.end());
    await answers().locator(".hljs-keyword").getByText("const").waitFor();
    const { page } = visit;
    await page.getByRole("button", { name: "Copy code" }).waitFor();
    await page.getByRole("img", { name: "a cup" }).scrollIntoViewIfNeeded();
    expect(await answers().first().ariaSnapshot()).toContain(FORMATTED.join("\n"));
    // The page's own policy admits no image of others. The element asks for the image once, which
    // the browser says in an event and in a line of its console.
    await expect.poll(() => visit.complaints.length).toBe(2);
    const blocked = "Loading the image 'https://pictures.example/cup.svg' violates";
    for (const complaint of visit.takeComplaints()) expect(complaint).toContain(blocked);
  });

  it("keeps a reasoning summary folded and apart from the text", async () => {
    const run = await visit.ask("Why?");
    run.emit(say.startReasoning(0), say.reasoning(0, "I weigh **both**"), say.finishReasoning(0));
    run.emit(say.startText(1), say.text(1, "Because."), say.finishText(1), say.end());
    await answers().getByText("Because.").waitFor();
    const words = answers().getByText("I weigh both");
    expect(await words.isVisible()).toBe(false);
    await expect.poll(status).toBe("Answer: Because.");
    await answers().getByText("Reasoning").click();
    await words.waitFor();
  });

  it("removes a withdrawn reasoning summary", async () => {
    const run = await visit.ask("Why?");
    run.emit(say.startReasoning(0), say.reasoning(0, "wrong"), say.finishReasoning(0));
    await answers().getByText("Reasoning").waitFor();
    run.emit(say.withdraw(0), say.startText(1), say.text(1, "Right."), say.end());
    await answers().getByText("Right.").waitFor();
    expect(await answers().getByText("Reasoning").count()).toBe(0);
  });

  it("says in a quiet line that another model goes on, and names it", async () => {
    const run = await visit.ask("Are you there?");
    run.emit(say.startText(0), say.text(0, "Hal"), say.finishText(0), say.withdraw(0));
    run.emit(say.changeModel("standard", "spare <b>one</b>"));
    run.emit(say.startText(1), say.text(1, "Hello."), say.finishText(1), say.end());
    await answers().getByText("Hello.").waitFor();
    const notes = answers().getByRole("note");
    expect(await notes.allTextContents()).toEqual([
      "The model could not answer. spare <b>one</b> goes on.",
    ]);
    await visit.page.getByText("spare <b>one</b>", { exact: true }).waitFor();
    await expect.poll(status).toBe("Answer: Hello.");
  });

  it("shows a tool call in each of its states", async () => {
    const run = await visit.ask("What time is it?");
    const card = log().getByRole("group").filter({ hasText: "Get current time" });
    run.emit(say.proposeTool(0, "core__get_current_time"));
    await card.getByText("Requested").waitFor();
    run.emit(say.startTool(0, { time_zone: "Asia/Tokyo" }));
    await card.getByText("Running").waitFor();
    await card.getByText("Asia/Tokyo").waitFor();
    run.emit(say.finishTool(0, { local_time: "21:04" }));
    await card.getByText("Done").waitFor();
    await card.getByText("Local time").waitFor();
    await card.getByText("21:04").waitFor();
    const titled = { ...say.proposeTool(1, "core__calculate"), title: "Sums of the month" };
    run.emit(titled, say.failTool(1, "Expected a number."));
    const named = log().getByRole("group").filter({ hasText: "Sums of the month" });
    await named.getByTitle("core__calculate").waitFor();
    await log().getByText("Failed").waitFor();
    await log().getByText("Time zone: Expected a number.").waitFor();
    run.emit(say.end());
  });

  it("scrolls along only while the reader is at its end, however long it is", async () => {
    const run = await visit.ask("A long one");
    run.emit(say.startText(0));
    const line = `${"lorem ipsum ".repeat(60)}\n\n`;
    for (let i = 0; i < 200; i += 1) run.emit(say.text(0, `**${i}** ${line}`));
    await sees("199");
    const fromEnd = () => visit.inside<number>(FROM_END);
    await expect.poll(fromEnd).toBeLessThan(50);
    await log().hover();
    await visit.page.mouse.wheel(0, -3000);
    const jump = visit.page.getByRole("button", { name: "Jump to latest" });
    await jump.waitFor();
    const before = await visit.inside<number>(SCROLLED);
    run.emit(say.text(0, "the very end"), say.end());
    await sees("the very end");
    expect(await visit.inside<number>(SCROLLED)).toBe(before);
    await jump.click();
    await jump.waitFor({ state: "hidden" });
    await expect.poll(fromEnd).toBeLessThan(50);
  });

  it("stays at the end when something grows while it scrolls there", async () => {
    const run = await visit.ask("A card that grows");
    run.emit(say.startText(0), say.text(0, "done"), say.finishText(0), say.end());
    await sees("done");
    await visit.inside(`(root) => {
      const log = root.querySelector("[role=log]");
      const grow = () => {
        const block = document.createElement("div");
        block.style.height = "2000px";
        log.firstElementChild.append(block);
      };
      grow();
      log.scrollTop = log.scrollHeight;
      grow();
    }`);
    await expect.poll(() => visit.inside<number>(FROM_END)).toBeLessThan(50);
    const jump = visit.page.getByRole("button", { name: "Jump to latest" });
    await jump.waitFor({ state: "hidden" });
  });

  it("draws a final block only once", async () => {
    const run = await visit.ask("Two paragraphs");
    run.emit(say.startText(0), say.text(0, "first\n\nsecond"));
    // The plain text before it is formatted is one paragraph.
    await answers().locator(".text p").getByText("second", { exact: true }).waitFor();
    await visit.inside(`(root) => { root.querySelector(".text p").wasHere = true; }`);
    run.emit(say.text(0, " grows\n\nthird"), say.finishText(0), say.end());
    await sees("third");
    expect(await visit.inside(`(root) => root.querySelector(".text p").wasHere`)).toBe(true);
    expect(await answers().locator(".text p").allTextContents()).toEqual([
      "first",
      "second grows",
      "third",
    ]);
  });

  it("can be stopped", async () => {
    const run = await visit.ask("Go on for ever");
    run.emit(say.startText(0), say.text(0, "On and on"));
    await sees("On and on");
    await visit.page.getByRole("button", { name: "Stop" }).click();
    await sees("You stopped this answer.");
    await expect.poll(() => visit.api.requestsTo(/POST .*\/run_1\/cancel/)).toHaveLength(1);
    await visit.page.getByRole("button", { name: "Send" }).waitFor();
  });

  it("shows the progress and the warnings of a tool", async () => {
    const run = await visit.ask("Read everything");
    run.emit(say.proposeTool(0, "core__read"), say.startTool(0, {}));
    run.emit(
      say.reportProgress(0, { stage: "reading_pages", done: 1, total: 4, text: "<b>Sales</b>" }),
    );
    const bar = log().getByRole("progressbar", { name: "Progress of Read" });
    await bar.waitFor();
    await sees("Reading pages · <b>Sales</b>");
    expect(await bar.getAttribute("value")).toBe("0.25");
    run.emit(say.finishTool(0, { pages: 4 }, ["One page was empty."]));
    await bar.waitFor({ state: "hidden" });
    await sees("One page was empty.");
    run.emit(say.end());
  });

  it("accepts a steering message, and shows it where the reader sent it", async () => {
    const run = await visit.ask("What time is it?");
    run.emit(say.startText(0), say.text(0, "It is nine."), say.finishText(0));
    await sees("It is nine.");
    const field = visit.page.getByLabel("Message");
    const send = visit.page.getByRole("button", { name: "Send" });
    expect(await send.isVisible()).toBe(false);
    await field.fill("and in **Paris**?");
    await visit.page.getByRole("button", { name: "Stop" }).waitFor();
    await send.click();
    await answers().getByRole("article", { name: "You" }).getByText("and in **Paris**?").waitFor();
    await expect.poll(() => field.inputValue()).toBe("");
    run.emit(say.startText(1), say.text(1, "It is two."), say.finishText(1), say.end());
    await sees("It is two.");
    const order = await answers().first().innerText();
    expect(order.split("\n").filter((line) => line !== "")).toEqual([
      "It is nine.",
      "and in **Paris**?",
      "It is two.",
    ]);
    expect(visit.api.requestsTo(/POST/).map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
      ["/v1/chat", { messages: [{ role: "user", content: "What time is it?" }] }],
      ["/v1/runs/run_1/messages", { content: "and in **Paris**?" }],
    ]);
  });

  it("keeps a message that the run does not accept in the field, and gives the reason", async () => {
    visit.api.messagesStatus = 409;
    const run = await visit.ask("What time is it?");
    run.emit(say.startText(0), say.text(0, "Late"));
    await sees("Late");
    const field = visit.page.getByLabel("Message");
    await field.fill("one more");
    await field.press("Enter");
    await visit.page.getByRole("alert").getByText("The run takes no more messages.").waitFor();
    expect(await field.inputValue()).toBe("one more");
    run.emit(say.finishText(0), say.end());
    await visit.page.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden" });
    await field.press("Enter");
    await expect.poll(() => visit.api.runs.length).toBe(2);
    const notice = visit.page.getByText("The run takes no more messages.");
    await expect.poll(() => notice.isVisible()).toBe(false);
  });

  it("shows why its run failed, and can be requested again", async () => {
    const run = await visit.ask("Hello?");
    run.emit(say.end("error"));
    const alert = log().getByRole("alert");
    await alert.getByText("The model could not be reached.").waitFor();
    await alert.getByRole("button", { name: "Try again" }).click();
    await expect.poll(() => visit.api.runs.length).toBe(2);
    lastRun(visit.api).emit(say.startText(0), say.text(0, "Here I am"), say.end());
    await sees("Here I am");
    expect(await answers().count()).toBe(1);
  });

  it("continues the earlier run", async () => {
    (await visit.ask("One")).emit(say.startText(0), say.text(0, "1st"), say.end());
    await visit.page.getByRole("button", { name: "Send" }).waitFor();
    await visit.ask("Two");
    const bodies = visit.api.requestsTo(/POST \/v1\/chat/).map(({ body }) => JSON.parse(body));
    expect(bodies).toEqual([
      { messages: [{ role: "user", content: "One" }] },
      {
        messages: [{ role: "user", content: "Two" }],
        messageId: expect.stringMatching(/^[0-9a-f]{32}$/),
        conversationId: "run_1",
        previousRunId: "run_1",
      },
    ]);
  });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { lastRun, setStage, type Stage, type Visit } from "./open-page.ts";
import * as say from "./run-events.ts";

let stage: Stage;
let visit: Visit;

beforeAll(async () => {
  stage = await setStage();
});
afterAll(() => stage.close());
beforeEach(async () => {
  visit = await stage.open();
});
afterEach(async () => {
  await visit.close();
  expect(visit.complaints).toEqual([]);
});

const log = () => visit.page.getByRole("log");
const sees = (text: string | RegExp) => log().getByText(text).first().waitFor();
const answers = () => visit.page.getByRole("article", { name: "Assistant" });

const SCROLLED = `(root) => root.querySelector("[role=log]").scrollTop`;
const FROM_END = `(root) => {
  const { scrollHeight, scrollTop, clientHeight } = root.querySelector("[role=log]");
  return scrollHeight - scrollTop - clientHeight;
}`;

describe("an answer", () => {
  it("streams as text, under the title of its run", async () => {
    const run = await visit.ask("Hello?");
    run.emit(say.setTitle("A greeting"), say.startText(0), say.text(0, "Good "));
    await sees(/^Good/);
    run.emit(say.text(0, "**day**"), say.finishText(0), say.end());
    await answers().getByText("Good day").waitFor();
    await visit.page.getByRole("heading", { name: "A greeting" }).waitFor();
    expect(await answers().locator("strong").textContent()).toBe("day");
  });

  it("shows a tool call through all of its states", async () => {
    const run = await visit.ask("What time is it?");
    const card = log().getByRole("group").filter({ hasText: "Get current time" });
    run.emit(say.proposeTool(0, "core__get_current_time"));
    await card.getByText("Called").waitFor();
    run.emit(say.startTool(0, { time_zone: "Asia/Tokyo" }));
    await card.getByText("Running").waitFor();
    await card.getByText("Asia/Tokyo").waitFor();
    run.emit(say.finishTool(0, { local_time: "21:04" }));
    await card.getByText("Done").waitFor();
    await card.getByText("Local time").waitFor();
    await card.getByText("21:04").waitFor();
    run.emit(say.proposeTool(1, "core__calculate"), say.failTool(1, "Expected a number."));
    await log().getByText("Failed").waitFor();
    await log().getByText("Time zone: Expected a number.").waitFor();
    run.emit(say.end());
  });

  it("can be very long, and is followed only while its reader is at the end", async () => {
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

  it("draws a finished block once, however much follows", async () => {
    const run = await visit.ask("Two paragraphs");
    run.emit(say.startText(0), say.text(0, "first\n\nsecond"));
    await sees("second");
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
    expect(visit.api.requestsTo(/POST \/v1\/runs\/run_1\/cancel/)).toHaveLength(1);
    await visit.page.getByRole("button", { name: "Send" }).waitFor();
  });

  it("shows how far a tool is, and what it warns of", async () => {
    const run = await visit.ask("Read everything");
    run.emit(say.proposeTool(0, "core__read"), say.startTool(0, {}));
    run.emit(say.reportProgress(0, { stage: "reading_pages", done: 1, total: 4 }));
    const bar = log().getByRole("progressbar", { name: "Progress of Read" });
    await bar.waitFor();
    await sees("Reading pages");
    expect(await bar.getAttribute("value")).toBe("0.25");
    run.emit(say.finishTool(0, { pages: 4 }, ["One page was empty."]));
    await bar.waitFor({ state: "hidden" });
    await sees("One page was empty.");
    run.emit(say.end());
  });

  it("takes a message while it goes on, and shows it where it was said", async () => {
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

  it("leaves a message that it does not take in the field, and says so", async () => {
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

  it("says why its run failed, and can be asked for again", async () => {
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

  it("continues the run before it", async () => {
    (await visit.ask("One")).emit(say.startText(0), say.text(0, "1st"), say.end());
    await visit.page.getByRole("button", { name: "Send" }).waitFor();
    await visit.ask("Two");
    const bodies = visit.api.requestsTo(/POST \/v1\/chat/).map(({ body }) => JSON.parse(body));
    expect(bodies).toEqual([
      { messages: [{ role: "user", content: "One" }] },
      { messages: [{ role: "user", content: "Two" }], previousRunId: "run_1" },
    ]);
  });
});

describe("a connection", () => {
  // Mutant: applying frames before the event's id has arrived shows the card's result early and twice.
  it("that drops inside an event is taken up after the last whole one", async () => {
    const run = await visit.ask("Drop me");
    run.emit(say.proposeTool(0, "core__add"), say.startTool(0, { a: 1 }));
    run.emit(say.startText(1), say.text(1, "before "));
    await sees("before");
    // Refused until the test has looked at what the half event has left on the page.
    visit.api.eventsStatus = 503;
    await run.dropInside(say.finishTool(0, { sum: 2 }));
    await sees("Reconnecting…");
    expect(await log().getByText("Done").count()).toBe(0);
    visit.api.eventsStatus = undefined;
    await log().getByText("Done").waitFor();
    run.emit(say.text(1, "after"), say.end());
    await sees("before after");
    const asked = visit.api.requestsTo(/GET .*\/events/).map((request) => request.lastEventId);
    expect(new Set(asked)).toEqual(new Set(["0-4"]));
  });

  it("that cannot be restored ends in an error with a way to try again", async () => {
    await visit.page.clock.install();
    const run = await visit.ask("Drop me");
    run.emit(say.startText(0), say.text(0, "half an "));
    await sees("half an");
    visit.api.eventsStatus = 503;
    run.drop();
    await sees("Reconnecting…");
    const retry = log().getByRole("button", { name: "Try again" });
    await expect
      .poll(async () => {
        await visit.page.clock.runFor(5000);
        return retry.isVisible();
      })
      .toBe(true);
    await sees("The connection was lost and could not be restored.");
    visit.api.eventsStatus = undefined;
    await visit.page.clock.resume();
    await retry.click();
    run.emit(say.text(0, "answer"), say.end());
    await sees("half an answer");
  });

  it("that brings nonsense ends in an error", async () => {
    const run = await visit.ask("Nonsense, please");
    run.sendRaw("data: {nonsense\n\n");
    await sees("The server sent something that cannot be read.");
  });

  it("ends when the element leaves the page", async () => {
    const run = await visit.ask("Hello?");
    run.emit(say.startText(0), say.text(0, "Hi"));
    await sees("Hi");
    expect(run.listeners).toBe(1);
    await visit.page.evaluate("document.querySelector('interlock-chat').remove()");
    await expect.poll(() => run.listeners).toBe(0);
  });
});

describe("a reload", () => {
  it("in the middle of an answer shows everything once and goes on", async () => {
    (await visit.ask("First")).emit(say.startText(0), say.text(0, "Answer one"), say.end());
    await visit.page.getByRole("button", { name: "Send" }).waitFor();
    const run = await visit.ask("Second");
    run.emit(say.setTitle("Two"), say.proposeTool(0, "core__add"), say.startTool(0, { a: 1 }));
    run.emit(say.finishTool(0, { sum: 2 }), say.startText(1), say.text(1, "Answer "));
    await sees(/^Answer $/);
    await visit.page.reload();
    await sees(/^Answer $/);
    run.emit(say.text(1, "two"), say.finishText(1), say.end());
    await sees("Answer two");
    expect(await answers().count()).toBe(2);
    expect(await log().getByText("Answer one").count()).toBe(1);
    expect(await log().getByText("Answer two").count()).toBe(1);
    expect(await log().getByRole("group").count()).toBe(1);
    expect(visit.api.requestsTo(/POST \/v1\/chat/)).toHaveLength(2);
  });

  it("after New chat starts with nothing", async () => {
    (await visit.ask("First")).emit(say.startText(0), say.text(0, "Answer one"), say.end());
    await sees("Answer one");
    await visit.page.getByRole("button", { name: "New chat" }).click();
    await visit.page.reload();
    await visit.page.getByRole("button", { name: "What time is it in Tokyo?" }).waitFor();
    expect(await answers().count()).toBe(0);
  });
});

describe("a token", () => {
  it("is asked for on 401, kept for the tab, and never put into an address", async () => {
    visit.api.token = "s3cret";
    await visit.page.getByRole("button", { name: "What time is it in Tokyo?" }).click();
    const field = visit.page.getByLabel("Access token");
    await field.fill("wrong");
    await field.press("Enter");
    await visit.page.getByText("This token was not accepted.").waitFor();
    await field.fill("s3cret");
    await visit.page.getByRole("button", { name: "Continue" }).click();
    await expect.poll(() => visit.api.runs.length).toBe(1);
    lastRun(visit.api).emit(say.startText(0), say.text(0, "It is late"), say.end());
    await sees("It is late");
    await visit.page.reload();
    await sees("It is late");
    expect(await answers().count()).toBe(1);
    expect(visit.api.requests.map((request) => request.path).join()).not.toContain("s3cret");
    expect(visit.page.url()).toBe(visit.api.url);
  });

  it("comes from the page where the page has one", async () => {
    visit.api.token = "s3cret";
    await visit.page.evaluate(
      "document.querySelector('interlock-chat').getToken = async () => 's3cret'",
    );
    const run = await visit.ask("Hello?");
    run.emit(say.startText(0), say.text(0, "Hi"), say.end());
    await sees("Hi");
  });
});

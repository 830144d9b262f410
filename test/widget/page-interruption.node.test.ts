import { beforeEach, describe, expect, it } from "vitest";
import { OUTCOME_UNKNOWN } from "../../src/loop/run-end.ts";
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
const status = () => visit.page.getByRole("status").textContent();
const chats = () => visit.api.requestsTo(/POST \/v1\/chat/);
const WORDS = `(root) => root.textContent`;

/** Sends a question without waiting for a response. */
async function ask(question: string): Promise<void> {
  await visit.page.getByLabel("Message").fill(question);
  await visit.page.getByLabel("Message").press("Enter");
}

describe("a run that crashes", () => {
  it("continues after its last stored event, and its unfinished text leaves the page", async () => {
    const run = await visit.ask("Write me something");
    run.emit(say.proposeTool(0, "core__add"), say.startTool(0, {}), say.finishTool(0, { sum: 2 }));
    run.emit(say.startText(1), say.text(1, "half a "), say.text(1, "thought"));
    await sees("half a thought");
    run.crash(1);
    run.emit(say.finishText(1), say.withdraw(1));
    await expect.poll(() => visit.inside<string>(WORDS)).not.toContain("half a");
    run.emit(say.startText(2), say.text(2, "A whole answer."), say.finishText(2), say.end());
    await sees("A whole answer.");
    await expect.poll(status).toBe("Answer: A whole answer.");
    expect(await visit.inside<string>(WORDS)).not.toContain("half a");
    expect(await log().getByRole("group").count()).toBe(1);
    const [resumed] = visit.api.requestsTo(/GET .*\/events/);
    expect(resumed?.lastEventId).toBe("0-6");
    await visit.page.reload();
    await sees("A whole answer.");
    expect(await visit.inside<string>(WORDS)).not.toContain("half a");
  });

  it("too often ends with an explanation", async () => {
    const run = await visit.ask("Hello?");
    run.emit(say.end("error", { code: "interrupted", message: "internal words" }));
    await log().getByRole("alert").getByText("interrupted too often").waitFor();
    await log().getByRole("button", { name: "Try again" }).waitFor();
  });
});

describe("a call with an unknown outcome", () => {
  const showUnknownOutcome = async () => {
    const run = await visit.ask("Send it");
    run.emit(say.proposeTool(0, "core__send_mail"), say.startTool(0, { to: "ann" }));
    run.emit(say.awaitOutcome(0, Date.UTC(2999, 0, 2, 12)));
    await sees(/The outcome of this call is unknown.* An operator can resolve it until .*2999/);
    return run;
  };

  it("is shown, also after a reload, until an operator resolves it", async () => {
    const run = await showUnknownOutcome();
    await sees("Waiting for an operator…");
    await expect.poll(status).toContain("An operator has been asked");
    await visit.page.reload();
    await sees("The outcome of this call is unknown");
    expect(run.listeners).toBe(1);
    run.emit(say.finishTool(0, {}, ["an operator confirmed that this happened"]));
    await log().getByText("Done").waitFor();
    await sees("an operator confirmed that this happened");
    expect(await log().getByText("The outcome of this call").isVisible()).toBe(false);
    run.emit(say.startText(1), say.text(1, "It was sent."), say.finishText(1), say.end());
    await sees("It was sent.");
  });

  it("that was never resolved is neither done nor failed, and offers no Try again", async () => {
    const run = await showUnknownOutcome();
    run.emit(say.leaveUnresolved(0));
    await log().getByText("Unknown outcome").waitFor();
    run.emit(say.end("error", OUTCOME_UNKNOWN.error));
    await log()
      .getByRole("alert")
      .getByText("Check whether the change happened before you ask for it again.")
      .waitFor();
    expect(await log().getByRole("button", { name: "Try again" }).isVisible()).toBe(false);
    expect(await log().getByText("Failed").count()).toBe(0);
  });
});

describe("a question without a response", () => {
  it("is sent again under the same key, and the page follows its one run", async () => {
    // The browser repeats a request once by itself when a reused connection breaks.
    visit.api.lostPosts = 3;
    await ask("Do it once");
    await expect.poll(() => chats().length).toBe(4);
    lastRun(visit.api).emit(say.startText(0), say.text(0, "Done once."), say.end());
    await sees("Done once.");
    expect(visit.api.runs).toHaveLength(1);
    const keys = new Set(chats().map(({ idempotencyKey }) => idempotencyKey));
    expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
    await visit.ask("And another");
    expect(new Set(chats().map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
  });

  it("can be sent again after a reload, and keeps its key", async () => {
    visit.api.lostPosts = Number.POSITIVE_INFINITY;
    await ask("One");
    await expect.poll(() => chats().length).toBeGreaterThan(1);
    await visit.page.reload();
    await sees("It is unknown whether this question was sent.");
    visit.api.lostPosts = 0;
    await log().getByRole("button", { name: "Try again" }).click();
    lastRun(visit.api).emit(say.startText(0), say.text(0, "1st"), say.end());
    await sees("1st");
    expect(visit.api.runs).toHaveLength(1);
    const sent = chats().map(({ idempotencyKey, body }) => `${idempotencyKey} ${body}`);
    expect(new Set(sent).size).toBe(1);
  });

  it("of a chat is found in it after a reload, with its answer", async () => {
    (await visit.ask("One")).emit(say.startText(0), say.text(0, "1st"), say.end());
    await sees("1st");
    await visit.page.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden" });
    visit.api.lostPosts = Number.POSITIVE_INFINITY;
    await ask("Two");
    await expect.poll(() => visit.api.runs.length).toBe(2);
    await visit.page.reload();
    lastRun(visit.api).emit(say.startText(0), say.text(0, "2nd"), say.end());
    await sees("2nd");
    expect(await log().getByRole("article", { name: "You" }).allTextContents()).toEqual([
      "One",
      "Two",
    ]);
    expect(visit.api.runs).toHaveLength(2);
  });

  it("has the same rule as a steering message without a response", async () => {
    const run = await visit.ask("Hello?");
    run.emit(say.startText(0), say.text(0, "Well"));
    await sees("Well");
    visit.api.lostPosts = 2;
    await ask("and quickly");
    await expect.poll(() => visit.page.getByLabel("Message").inputValue()).toBe("");
    await expect.poll(() => log().getByText("and quickly").count()).toBe(1);
    const sent = visit.api.requestsTo(/POST .*\/messages/);
    expect(sent).toHaveLength(3);
    expect(new Set(sent.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    run.emit(say.end());
  });
});

describe("a run that the server no longer stores", () => {
  it("is no longer followed, and its question can be asked again", async () => {
    const run = await visit.ask("Hello?");
    run.emit(say.startText(0), say.text(0, "Hi"));
    await sees("Hi");
    visit.api.gone.add(run.id);
    run.drop();
    await log().getByRole("alert").getByText("The server no longer stores this answer").waitFor();
    visit.api.gone.clear();
    await log().getByRole("button", { name: "Try again" }).click();
    await expect.poll(() => visit.api.runs.length).toBe(2);
    lastRun(visit.api).emit(say.startText(0), say.text(0, "Hi again"), say.end());
    await sees("Hi again");
  });

  it("is not continued: the next question starts without history, and the page states it", async () => {
    const run = await visit.ask("Hello?");
    run.emit(say.startText(0), say.text(0, "Hi"), say.end());
    await visit.page.getByRole("button", { name: "Send" }).waitFor();
    visit.api.gone.add(run.id);
    await ask("Go on");
    await expect.poll(() => visit.api.runs.length).toBe(2);
    lastRun(visit.api).emit(say.startText(0), say.text(0, "With what?"), say.end());
    await sees("The server no longer stores the earlier messages.");
    const sent = chats().slice(1);
    expect(sent.map(({ body }) => JSON.parse(body).previousRunId)).toEqual(["run_1", undefined]);
    expect(new Set(sent.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
  });
});

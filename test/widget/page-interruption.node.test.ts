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
const status = () => visit.page.getByRole("status").textContent();
const chats = () => visit.api.requestsTo(/POST \/v1\/chat/);
const WORDS = `(root) => root.textContent`;

/** Asks through the page, without waiting for an answer. */
async function ask(question: string): Promise<void> {
  await visit.page.getByLabel("Message").fill(question);
  await visit.page.getByLabel("Message").press("Enter");
}

describe("a run that crashes", () => {
  it("goes on where it was stored, and what it had said by half is gone from the page", async () => {
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

  it("too often says that it was given up", async () => {
    const run = await visit.ask("Hello?");
    run.emit(say.end("error", { code: "interrupted", message: "internal words" }));
    await log().getByRole("alert").getByText("interrupted too often").waitFor();
    await log().getByRole("button", { name: "Try again" }).waitFor();
  });
});

describe("a call in doubt", () => {
  const inDoubt = async () => {
    const run = await visit.ask("Send it");
    run.emit(say.proposeTool(0, "core__send_mail"), say.startTool(0, { to: "ann" }));
    run.emit(say.awaitOutcome(0, Date.UTC(2999, 0, 2, 12)));
    await sees(/It is not known whether this happened\. An operator has been asked, until .*2999/);
    return run;
  };

  it("says so while somebody is asked, over a reload, until its result comes", async () => {
    const run = await inDoubt();
    await sees("Waiting for an operator…");
    await expect.poll(status).toContain("An operator has been asked.");
    await visit.page.reload();
    await sees("It is not known whether this happened.");
    expect(run.listeners).toBe(1);
    run.emit(say.finishTool(0, {}, ["an operator confirmed that this happened"]));
    await log().getByText("Done").waitFor();
    await sees("an operator confirmed that this happened");
    expect(await log().getByText("It is not known").isVisible()).toBe(false);
    run.emit(say.startText(1), say.text(1, "It was sent."), say.finishText(1), say.end());
    await sees("It was sent.");
  });

  it("of which nobody told is neither done nor failed, and cannot be asked for again by a click", async () => {
    const run = await inDoubt();
    run.emit(say.expireTool(0));
    await log().getByText("Not known").waitFor();
    run.emit(say.end("error", { code: "outcome_unknown", message: "internal words" }));
    await log()
      .getByRole("alert")
      .getByText("Look for yourself before you ask for it again.")
      .waitFor();
    expect(await log().getByRole("button", { name: "Try again" }).isVisible()).toBe(false);
    expect(await log().getByText("Failed").count()).toBe(0);
  });
});

describe("a question whose answer is lost", () => {
  // Mutant: a key of its own for each request starts a second run.
  it("is sent again under its key, and its one run is followed", async () => {
    // The browser itself repeats a request once that died on a connection it used before.
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

  it("can be asked for again after a reload, and is still the same question", async () => {
    (await visit.ask("One")).emit(say.startText(0), say.text(0, "1st"), say.end());
    await sees("1st");
    visit.api.lostPosts = Number.POSITIVE_INFINITY;
    await ask("Two");
    await expect.poll(() => chats().length).toBeGreaterThan(1);
    await visit.page.reload();
    await sees("It is not known whether this question was sent.");
    visit.api.lostPosts = 0;
    await log().getByRole("button", { name: "Try again" }).click();
    lastRun(visit.api).emit(say.startText(0), say.text(0, "2nd"), say.end());
    await sees("2nd");
    expect(visit.api.runs).toHaveLength(2);
    const [, ...sent] = chats();
    expect(new Set(sent.map(({ idempotencyKey, body }) => `${idempotencyKey} ${body}`)).size).toBe(
      1,
    );
  });

  it("is the rule for a message to a running answer, too", async () => {
    const run = await visit.ask("Hello?");
    run.emit(say.startText(0), say.text(0, "Well"));
    await sees("Well");
    visit.api.lostPosts = 2;
    await ask("and quickly");
    await expect.poll(() => visit.page.getByLabel("Message").inputValue()).toBe("");
    expect(await log().getByText("and quickly").count()).toBe(1);
    const sent = visit.api.requestsTo(/POST .*\/messages/);
    expect(sent).toHaveLength(3);
    expect(new Set(sent.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
    run.emit(say.end());
  });
});

describe("a run that is not kept any more", () => {
  it("says so when its page is opened again, and can be asked afresh", async () => {
    const run = await visit.ask("Hello?");
    run.emit(say.startText(0), say.text(0, "Hi"), say.end());
    await sees("Hi");
    visit.api.gone.add(run.id);
    await visit.page.reload();
    await log().getByRole("alert").getByText("This answer is not kept any more").waitFor();
    await log().getByRole("button", { name: "Try again" }).click();
    await expect.poll(() => visit.api.runs.length).toBe(2);
    lastRun(visit.api).emit(say.startText(0), say.text(0, "Hi again"), say.end());
    await sees("Hi again");
  });

  it("is not continued: the next question starts afresh, and says so", async () => {
    const run = await visit.ask("Hello?");
    run.emit(say.startText(0), say.text(0, "Hi"), say.end());
    await visit.page.getByRole("button", { name: "Send" }).waitFor();
    visit.api.gone.add(run.id);
    await ask("Go on");
    await expect.poll(() => visit.api.runs.length).toBe(2);
    lastRun(visit.api).emit(say.startText(0), say.text(0, "With what?"), say.end());
    await sees("What was said before is not kept any more at the server");
    const sent = chats().slice(1);
    expect(sent.map(({ body }) => JSON.parse(body).previousRunId)).toEqual(["run_1", undefined]);
    expect(new Set(sent.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
  });
});

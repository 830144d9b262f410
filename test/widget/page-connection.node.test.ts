import { beforeEach, describe, expect, it } from "vitest";
import { lastRun, type Visit } from "./open-page.ts";
import { ScriptedRun } from "./scripted-api.ts";
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

describe("a connection", () => {
  it("that is lost inside an event continues after the last complete event", async () => {
    const run = await visit.ask("Drop me");
    run.emit(say.proposeTool(0, "core__add"), say.startTool(0, { a: 1 }));
    run.emit(say.startText(1), say.text(1, "before "));
    await sees("before");
    // The server refuses reconnections until the test has checked the page.
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

  it("that cannot be restored ends in an error with a Try again button", async () => {
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

  it("that sends unreadable data ends in an error", async () => {
    const run = await visit.ask("Nonsense, please");
    run.sendRaw("data: {nonsense\n\n");
    await sees("The server sent data that this page cannot read.");
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
  it("during an answer shows everything once and continues", async () => {
    (await visit.ask("First")).emit(say.startText(0), say.text(0, "Answer one"), say.end());
    await visit.page.getByRole("button", { name: "Send" }).waitFor();
    const run = await visit.ask("Second");
    run.emit(say.setTitle("Two"), say.proposeTool(0, "core__add"), say.startTool(0, { a: 1 }));
    run.emit(say.finishTool(0, { sum: 2 }), say.startText(1), say.text(1, "Answer "));
    await sees(/^Answer\s*$/);
    await visit.page.reload();
    await sees(/^Answer\s*$/);
    run.emit(say.text(1, "two"), say.finishText(1), say.end());
    await sees("Answer two");
    expect(await answers().count()).toBe(2);
    expect(await log().getByText("Answer one").count()).toBe(1);
    expect(await log().getByText("Answer two").count()).toBe(1);
    expect(await log().getByRole("group").count()).toBe(1);
    expect(visit.api.requestsTo(/POST \/v1\/chat/)).toHaveLength(2);
  });

  it("after New chat shows an empty conversation", async () => {
    (await visit.ask("First")).emit(say.startText(0), say.text(0, "Answer one"), say.end());
    await sees("Answer one");
    await visit.page.getByRole("button", { name: "New chat" }).click();
    await visit.page.reload();
    await visit.page.getByRole("heading", { name: "What would you like to know?" }).waitFor();
    expect(await answers().count()).toBe(0);
  });
});

describe("a conversation of 2,000 messages", () => {
  it("opens with its newest turns, gets earlier ones, and holds only those near what is seen", async () => {
    const { api } = visit;
    for (let turn = 1; turn < 1_000; turn += 1) {
      const place = { conversationId: "run_1", previousRunId: `run_${turn - 1}` };
      const asked = { messages: [{ content: `Question ${turn}` }], ...(turn > 1 && place) };
      const run = new ScriptedRun(`run_${turn}`, asked, () => "");
      if (turn === 990) {
        run.emit(say.proposeTool(1, "core__add"), say.startTool(1, { a: 1 }));
        run.emit(say.finishTool(1, { sum: 2 }));
      }
      run.emit(say.startText(0), say.text(0, `Answer ${turn}`), say.finishText(0), say.end());
      api.runs.push(run);
    }
    await fetch(`${api.url}v1/chat`, {
      method: "POST",
      body: JSON.stringify({
        messages: [{ role: "user", content: "Question 1000" }],
        conversationId: "run_1",
        previousRunId: "run_999",
      }),
    });
    lastRun(api).emit(say.startText(0), say.text(0, "Answer 1000"), say.end());
    await visit.page.evaluate(`document.querySelector("interlock-chat").openChat("run_1")`);
    const nodes = (): Promise<number> =>
      visit.inside(`(root) => root.querySelectorAll("*").length`);
    const tools = () => visit.page.getByRole("button", { name: "Copy answer" });
    const size = api.conversations.pageSize;
    await expect.poll(() => tools().count()).toBe(size);
    const opened = await nodes();
    await visit.inside(`(root) => { root.querySelector(".log").scrollTop = 0; }`);
    await visit.page.getByRole("button", { name: "Show earlier messages" }).click();
    await expect.poll(() => tools().count()).toBe(2 * size);
    await sees(`Answer ${1_000 - 2 * size + 1}`);
    const perTurn = ((await nodes()) - opened) / size;
    expect(perTurn).toBeLessThan(60);
    expect(opened).toBeLessThan(size * perTurn + 200);
    expect(api.requestsTo(/messages/)).toHaveLength(2);

    const inTurn = (turn: number) => log().locator("section", { hasText: `Question ${turn}` });
    await inTurn(990).locator("summary").click();
    await inTurn(985).getByRole("button", { name: "Edit" }).click();
    await inTurn(985).getByRole("textbox").fill("half a que");
    await inTurn(980).getByText("Answer 980").selectText();
    api.conversations.pageSize = 238;
    for (let loaded = 2 * size; loaded < 1_000; loaded += 238) {
      await visit.inside(`(root) => { root.querySelector(".log").scrollTop = 0; }`);
      await visit.page.getByRole("button", { name: "Show earlier messages" }).click();
      await expect
        .poll(() => visit.inside<number>(COUNT_TURNS))
        .toBe(Math.min(1_000, loaded + 238));
    }
    for (const direction of [-1, 1]) {
      const walk = await visit.inside<Walk>(`(root) => (${WALK})(root, ${direction})`);
      expect(walk.problems).toEqual([]);
      expect(walk.seen).toBe(1_000);
      expect(walk.mostNodes).toBeLessThan(1_000 + 70 * perTurn + 200);
    }
    expect(await inTurn(990).locator("details").getAttribute("open")).toBeNull();
    expect(await inTurn(985).getByRole("textbox").inputValue()).toBe("half a que");
    expect(await visit.page.evaluate("String(getSelection())")).toBe("Answer 980");
    for (const jump of ["End", "Home", ".jump", "Home"]) {
      const where = await visit.inside(`(root) => (${JUMP})(root, "${jump}")`);
      expect([jump, where]).toEqual([jump, { isThere: true, empty: 0 }]);
    }
    await expect.poll(() => inTurn(990).count()).toBe(0);
    expect(await inTurn(985).getByRole("textbox").inputValue()).toBe("half a que");
    expect(await visit.page.evaluate("String(getSelection())")).toBe("Answer 980");
  });
});

/** Jumps by a key or by the button, and counts the empty places in sight before any frame. */
const JUMP = `(root, jump) => {
  const log = root.querySelector(".log");
  if (jump.startsWith(".")) root.querySelector(jump).click();
  else log.dispatchEvent(new KeyboardEvent("keydown", { key: jump, cancelable: true }));
  const box = log.getBoundingClientRect();
  const empty = [...root.querySelectorAll(".fold")].filter((fold) => {
    const { top, bottom } = fold.getBoundingClientRect();
    return bottom > box.top && top < box.bottom;
  });
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 2;
  return { isThere: jump === "Home" ? log.scrollTop === 0 : atEnd, empty: empty.length };
}`;

const COUNT_TURNS = `(root) => root.querySelectorAll(".exchange, .fold").length`;

interface Walk {
  readonly problems: readonly string[];
  /** Turns that stood on the page at some step. */
  readonly seen: number;
  readonly mostNodes: number;
}

/**
 * Scrolls through the log in steps of five screens, and looks at each once its turns are back:
 * every turn that is seen has its question and its answer, in order, and nothing moved.
 */
const WALK = `async (root, direction) => {
  const log = root.querySelector(".log");
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const problems = [];
  const seen = new Set();
  let mostNodes = 0;
  let height = log.scrollHeight;
  const end = direction > 0 ? height - log.clientHeight : 0;
  for (let at = direction > 0 ? 0 : height; ; ) {
    log.scrollTop = at;
    const asked = log.scrollTop;
    const box = log.getBoundingClientRect();
    const isSeen = (turn) => {
      const { top, bottom } = turn.getBoundingClientRect();
      return bottom > box.top && top < box.bottom;
    };
    // A busy browser tells of a scroll some frames later.
    do await frame();
    while ([...root.querySelectorAll(".fold")].some(isSeen));
    [...root.querySelectorAll(".exchange, .fold")].forEach((turn, index) => {
      const name = turn.querySelector(".question p")?.textContent;
      if (name) seen.add(name);
      if (!isSeen(turn)) return;
      if (name !== "Question " + (index + 1)) problems.push("at " + at + ": " + name);
      if (!turn.textContent.includes("Answer " + (index + 1)))
        problems.push("no answer " + (index + 1));
    });
    mostNodes = Math.max(mostNodes, root.querySelectorAll("*").length);
    if (log.scrollTop !== asked) problems.push("moved from " + asked + " to " + log.scrollTop);
    if (log.scrollHeight !== height) problems.push("height " + height + ": " + log.scrollHeight);
    if (direction > 0 ? at >= end : at <= end) break;
    at += direction * 5 * log.clientHeight;
  }
  return { problems: problems.slice(0, 9), seen: seen.size, mostNodes };
}`;

describe("a chat that another device continues", () => {
  it("keeps the text of a message, and shows what the other device added", async () => {
    (await visit.ask("First")).emit(say.startText(0), say.text(0, "Answer one"), say.end());
    await sees("Answer one");
    await fetch(`${visit.api.url}v1/chat`, {
      method: "POST",
      body: JSON.stringify({
        messages: [{ role: "user", content: "From the phone" }],
        conversationId: "run_1",
        previousRunId: "run_1",
      }),
    });
    const field = visit.page.getByLabel("Message", { exact: true });
    await field.fill("From the desk");
    await field.press("Enter");
    await visit.page.getByRole("alert").getByText("Another device continued this chat.").waitFor();
    await sees("From the phone");
    expect(await field.inputValue()).toBe("From the desk");
    lastRun(visit.api).emit(say.startText(0), say.text(0, "Answer two"), say.end());
    await sees("Answer two");
    await visit.ask("From the desk");
    await expect.poll(() => visit.api.runs.length).toBe(3);
    expect(lastRun(visit.api).asked).toMatchObject({ previousRunId: "run_2" });
  });

  it("asks for a reload when the page was deployed anew", async () => {
    await visit.page.route("**/widget-tools.js", async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(/"[0-9a-f]{16}"/, '"another"');
      await route.fulfill({ response, body });
    });
    await visit.page.getByRole("button", { name: "Chats" }).click();
    await visit.page.getByRole("alert").getByText("Reload the page.").waitFor();
    await visit.ask("First");
  });
});

describe("a chat that the reader does not have", () => {
  const OF_OTHERS = `for (const key of Object.keys(sessionStorage)) {
    if (key.endsWith(":chat")) sessionStorage[key] = '{"conversationId":"run_of_another"}';
  }`;
  const opensNew = async (why: string) => {
    await visit.page.getByRole("alert").getByText(why).waitFor();
    await visit.page.getByRole("heading", { name: "What would you like to know?" }).waitFor();
    expect(await answers().count()).toBe(0);
  };

  it("is unknown when another script put its id into the storage", async () => {
    await visit.ask("First");
    await visit.page.evaluate(OF_OTHERS);
    await visit.page.reload();
    await opensNew("This chat does not exist, or it is not yours.");
    await visit.ask("Second");
    expect(JSON.parse(visit.api.requestsTo(/POST \/v1\/chat/)[1]?.body ?? "")).toEqual({
      messages: [{ role: "user", content: "Second" }],
    });
  });

  it("was deleted on another device", async () => {
    const run = await visit.ask("First");
    run.emit(say.startText(0), say.text(0, "Answer one"), say.end());
    await sees("Answer one");
    visit.api.gone.add(run.id);
    await visit.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await opensNew("This chat was deleted.");
  });
});

describe("a token", () => {
  it("is requested after a 401, kept for the tab, and never part of an address", async () => {
    visit.api.token = "s3cret";
    await visit.page.getByLabel("Message").fill("What time is it in Tokyo?");
    await visit.page.getByLabel("Message").press("Enter");
    const field = visit.page.getByLabel("Access token");
    await field.fill("wrong");
    await field.press("Enter");
    await visit.page.getByText("The server rejected this token.").waitFor();
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

  it("comes from the page when the page provides one", async () => {
    visit.api.token = "s3cret";
    await visit.page.evaluate(
      "document.querySelector('interlock-chat').getToken = async () => 's3cret'",
    );
    const run = await visit.ask("Hello?");
    run.emit(say.startText(0), say.text(0, "Hi"), say.end());
    await sees("Hi");
  });
});

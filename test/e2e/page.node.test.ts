import { afterAll, beforeAll, expect, test } from "vitest";
import { startDev, type DevServer } from "../shared/dev-server.ts";
import type { Browser, Page } from "playwright-core";
import { MEASURE_CONTRAST } from "../widget/measure-contrast.ts";
import { closePages, openBrowser } from "../../scripts/browser.ts";

let server: DevServer;
let browser: Browser;
beforeAll(async () => {
  [server, browser] = await Promise.all([startDev(), openBrowser()]);
});
afterAll(async () => {
  await closePages(browser);
  await server.end("SIGTERM");
});

/**
 * Opens the page on a device of its own, with a new chat where the test says so. Fails the test on
 * any script error or policy violation.
 */
async function open(path = "/", isNew = false): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext();
  const chat = `interlock-chat::${server.url}/:chat`;
  if (isNew) await context.addInitScript(`sessionStorage.setItem("${chat}", "{}")`);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  await page.goto(server.url + path);
  return { page, complaints };
}

test("a new user asks for the time in Tokyo and sees the call", async () => {
  const { page, complaints } = await open();
  await page.getByRole("textbox").fill("What time is it in Tokyo?");
  await page.keyboard.press("Enter");
  const answer = page.getByRole("article", { name: "Assistant" });
  await answer.getByText("Right now in Tokyo it is").waitFor();
  await answer.getByText(/current time/i).waitFor();
  await answer.getByText("Asia/Tokyo").first().waitFor();
  expect(complaints).toEqual([]);
  await page.close();
  // Other devices find the chat in the list, which hears of the chat a moment later.
  const listed = async (): Promise<string> =>
    (await fetch(`${server.url}/v1/conversations`)).text();
  await expect.poll(listed, { interval: 500 }).toContain("conversationId");
});

test("a chat goes on on another device and over reloads, and nobody loses a word", async () => {
  const { page: phone } = await open();
  const { page: desk, complaints } = await open();
  // Both devices show the chat of the test above, because it is the person's newest one.
  for (const page of [phone, desk])
    await page.getByText("Right now in Tokyo it is").first().waitFor();
  await desk.getByRole("textbox").fill("Tell me a long story");
  await desk.keyboard.press("Enter");
  await desk.getByText("An interlock is an old idea.").first().waitFor();
  await phone.getByRole("textbox").fill("What time is it in London?");
  await phone.keyboard.press("Enter");
  await phone.getByRole("alert").getByText("Another device continued this chat.").waitFor();
  expect(await phone.getByRole("textbox").inputValue()).toBe("What time is it in London?");
  await desk.reload();
  for (const page of [phone, desk]) {
    const answer = page.getByRole("article", { name: "Assistant" }).last();
    await answer.getByText("Try it.").waitFor();
    const shown = (await answer.innerText()).replaceAll(/\s+/g, " ");
    for (const sentence of STORY) expect(shown.split(sentence)).toHaveLength(2);
    const asked = page.getByRole("article", { name: "You" });
    expect(await asked.allTextContents()).toEqual([
      "What time is it in Tokyo?",
      "Tell me a long story",
    ]);
  }
  await phone.getByRole("textbox").press("Enter");
  await phone.getByText("Europe/London").first().waitFor();
  await phone.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden" });
  // The reader returns to the other device.
  await desk.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  await desk.getByText("Europe/London").first().waitFor();
  expect(complaints).toEqual([]);
  for (const page of [phone, desk]) await page.context().close();
});

const STORY = ["An interlock is an old idea.", "Most of the proposals are good.", "Try it."];

test("a reader asks anew, edits, leafs through the versions, and rates an answer", async () => {
  const { page, complaints } = await open("/", true);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const copies = page.getByRole("button", { name: "Copy answer" });
  await page.getByRole("textbox").fill("What is 12.5% of 480?");
  await page.keyboard.press("Enter");
  await copies.waitFor();
  await page.getByRole("button", { name: "Answer again" }).click();
  await page.getByText("2 of 2").waitFor();
  await copies.waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  const form = page.getByRole("form", { name: "Edit your question" });
  await page.keyboard.press("Escape");
  await form.waitFor({ state: "detached" });
  await page.keyboard.press("Enter");
  await form.getByRole("textbox").fill("What time is it in London?");
  await form.getByRole("button", { name: "Send" }).click();
  await page.getByText("3 of 3").waitFor();
  await page.getByText("Europe/London").first().waitFor();
  await copies.click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toContain("Right now in London");
  await page.getByRole("button", { name: "Bad answer" }).click();
  await page.getByRole("textbox", { name: "Comment on this answer" }).fill("Too late");
  await page.getByRole("button", { name: "Send comment" }).click();
  await page.getByText("Thank you. Your comment was sent.").waitFor();

  const { page: other } = await open();
  await other.getByText("3 of 3").waitFor();
  const bad = other.getByRole("button", { name: "Bad answer" });
  expect(await bad.getAttribute("aria-pressed")).toBe("true");
  await other.getByRole("button", { name: "Earlier version" }).focus();
  for (const place of ["2 of 3", "1 of 3"]) {
    await other.keyboard.press("Enter");
    await other.getByText(place).waitFor();
  }
  await other.getByText("(12.5 / 100) * 480 = 60.").first().waitFor();
  // A message goes on with the version that is shown.
  await other.getByRole("textbox").fill("What time is it in Tokyo?");
  await other.keyboard.press("Enter");
  await other.getByText("Asia/Tokyo").first().waitFor();
  expect(await other.getByText("Europe/London").count()).toBe(0);
  expect(complaints).toEqual([]);
  for (const one of [page, other]) await one.context().close();
});

test("stop ends the run on the server too", async () => {
  const { page } = await open("/", true);
  const started = page.waitForResponse((response) => response.url().endsWith("/v1/chat"));
  await page.getByRole("textbox").fill("Tell me a long story");
  await page.keyboard.press("Enter");
  const runId = (await started).headers()["x-run-id"];
  await page.getByText("An interlock").first().waitFor();
  const cancelled = page.waitForResponse((response) => response.url().endsWith("/cancel"));
  await page.getByRole("button", { name: /stop/i }).click();
  expect((await cancelled).status()).toBe(200);
  const state = await fetch(`${server.url}/v1/runs/${runId}`);
  expect(await state.json()).toMatchObject({ status: "cancelled" });
  await page.close();
});

test("two people approve a call, switched in the page", async () => {
  await requireTwoPeople();
  const messages = [{ role: "user", content: "Plan a call with Tokyo" }];
  const asked = await send("POST", "/v1/chat", { messages });
  const state = `/v1/runs/${asked.headers.get("x-run-id")}`;
  await expect
    .poll(async () => (await send("GET", state)).json())
    .toMatchObject({ status: "waiting" });
  const { page, complaints } = await open("/approvals");
  for (const name of ["bob", "cat"]) {
    const reloaded = page.waitForEvent("load");
    await page.getByRole("combobox", { name: "Acting as" }).selectOption(name);
    await reloaded;
    await page.getByRole("list", { name: "Approvals" }).getByRole("button").first().click();
    const decided = page.waitForResponse((response) => response.request().method() === "POST");
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    expect(await (await decided).json()).toMatchObject({
      status: name === "cat" ? "approved" : "pending",
    });
  }
  await expect
    .poll(async () => (await send("GET", state)).json())
    .toMatchObject({ status: "completed" });
  expect(complaints).toEqual([]);
  await page.close();
});

const HOSTILE_TITLE = '<img src=x onerror="alert(1)"> \u202Etxt.exe '.padEnd(120, "w");

test("a reader finds, opens, names and deletes chats", async () => {
  await requireTwoPeople();
  const { page, complaints } = await open("/", true);
  await page.setViewportSize({ width: 390, height: 780 });
  await page.getByRole("textbox").fill("Plan a call with Tokyo");
  await page.keyboard.press("Enter");
  await page.getByText("Waiting for approval…").waitFor();
  // Lists learn a little later what happens in a chat.
  await expect.poll(() => findChats("limit=1")).toMatchObject([{ status: "waiting" }]);
  await page.getByRole("button", { name: "Chats" }).click();
  const panel = page.getByRole("dialog", { name: "Chats" });
  const rows = panel.getByRole("listitem");
  await rows.first().getByText("Waiting for people").waitFor();
  await rows.first().getByRole("button", { name: "Rename" }).click();
  await panel.getByRole("textbox", { name: "Title" }).fill(HOSTILE_TITLE);
  await page.keyboard.press("Enter");
  await rows.first().getByText(HOSTILE_TITLE.trim()).waitFor();
  expect(await panel.locator("img").count()).toBe(0);
  const list = `document.querySelector("interlock-chat").shadowRoot.querySelector(".chats")`;
  expect(await page.evaluate(`${list}.scrollWidth - ${list}.clientWidth`)).toBe(0);
  const measure = `(${MEASURE_CONTRAST})(${list})`;
  const contrasts = await page.evaluate<{ ratio: number }[]>(measure);
  expect(contrasts.filter(({ ratio }) => ratio < 4.5)).toEqual([]);

  await expect.poll(() => findChats("title=txt.exe")).toHaveLength(1);
  await panel.getByRole("searchbox").fill("no such title");
  await panel.getByText("No title has these words.").waitFor();
  await panel.getByRole("searchbox").fill("TXT.EXE");
  await expect.poll(() => rows.count()).toBe(1);
  await rows.getByRole("button", { name: "Delete" }).click();
  await panel.getByText("The audit log keeps its records").waitFor();
  await panel.getByRole("button", { name: "Delete this chat" }).click();
  await panel.getByText("Nothing was deleted. An answer is still being written").waitFor();
  await page.keyboard.press("Escape");
  await panel.getByRole("searchbox").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await panel.waitFor({ state: "detached" });
  await page.getByRole("heading", { name: HOSTILE_TITLE.trim() }).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("You stopped this answer.").first().waitFor();

  const { page: other } = await open();
  await other.getByText("You stopped this answer.").first().waitFor();
  await page.getByRole("button", { name: "Chats" }).click();
  await rows.first().getByRole("button", { name: "Delete" }).click();
  await panel.getByRole("button", { name: "Delete this chat" }).click();
  await panel.getByText("The chat was deleted.").waitFor();
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
  await page.getByRole("heading", { name: "What would you like to know?" }).waitFor();
  await other.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  await other.getByRole("alert").getByText("This chat was deleted.").waitFor();
  // The refused deletion.
  expect(complaints).toEqual([expect.stringContaining("409")]);
  for (const one of [page, other]) await one.context().close();
});

async function findChats(query: string): Promise<readonly object[]> {
  const response = await send("GET", `/v1/conversations?${query}`);
  return (await response.json<{ conversations: readonly object[] }>()).conversations;
}

/** Lets the title of a chat wait for two people. */
async function requireTwoPeople(): Promise<void> {
  const approvals = [{ tools: ["core__generate_title"], pattern: "dual_control" }];
  const allowedTools = ["core__generate_title", "core__get_current_time", "core__calculate"];
  const current = await send("GET", "/v1/policy");
  const headers = { "if-match": current.headers.get("etag") ?? "" };
  const stored = await send("PUT", "/v1/policy", { allowedTools, approvals }, headers);
  expect(stored.status).toBe(200);
}

function send(method: string, path: string, body?: object, headers = {}): Promise<Response> {
  return fetch(server.url + path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
}

import { afterAll, beforeAll, expect, test } from "vitest";
import { startDev, type DevServer } from "../shared/dev-server.ts";
import type { Browser, Page } from "playwright-core";
import { closePages, openBrowser } from "../shared/browser.ts";

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
 * Opens the page on a device of its own, which has no chat open. Fails the test on any script error
 * or policy violation.
 */
async function open(path = "/"): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext();
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

test("stop ends the run on the server too", async () => {
  const { page } = await open();
  await page.getByRole("button", { name: "New chat" }).click();
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
  const approvals = [{ tools: ["core__generate_title"], pattern: "dual_control" }];
  const allowedTools = ["core__generate_title", "core__get_current_time", "core__calculate"];
  const policy = { allowedTools, approvals };
  const stored = await send("PUT", "/v1/policy", policy, { "if-match": '"1"' });
  expect(stored.status).toBe(200);
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

function send(method: string, path: string, body?: object, headers = {}): Promise<Response> {
  return fetch(server.url + path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
}

import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../cli/development/free-port.ts";
import { blocksIn } from "../docs/code-blocks.ts";
import { closePages, openBrowser } from "../../scripts/browser.ts";
import { startDev, type DevServer } from "../shared/dev-server.ts";
import { type HostPage, serveHostPage } from "../shared/host-page.ts";
import { takePicture } from "../story/person.ts";

let server: DevServer;
let browser: Browser;
const pages: HostPage[] = [];
beforeAll(async () => {
  [server, browser] = await Promise.all([startDev(), openBrowser()]);
});
afterAll(async () => {
  await closePages(browser);
  await Promise.all(pages.map((page) => page.close()));
  await server.end("SIGTERM");
});

const JSON_TYPE = { "content-type": "application/json" };

async function admit(origins: readonly string[]): Promise<void> {
  const current = await fetch(`${server.url}/v1/policy`);
  const { policy } = await current.json<{ policy: object }>();
  const changed = await fetch(`${server.url}/v1/policy`, {
    method: "PUT",
    headers: { ...JSON_TYPE, "if-match": current.headers.get("etag") ?? "" },
    body: JSON.stringify({ ...policy, origins }),
  });
  expect(changed.status).toBe(200);
}

async function mintFor(origin: string): Promise<string> {
  const body = { origin, actorId: "user:developer", toolIds: ["core__get_current_time"] };
  const response = await fetch(`${server.url}/v1/embed-tokens`, {
    method: "POST",
    headers: JSON_TYPE,
    body: JSON.stringify(body),
  });
  const { token } = await response.json<{ token: string }>();
  return token;
}

test("a page of an admitted origin can chat, and a page of another origin gets nothing", async () => {
  const home = await serveHostPage(server.url, () => mintFor(home.origin));
  // This page has the token of the other page.
  const evil = await serveHostPage(server.url, () => mintFor(home.origin));
  pages.push(home, evil);
  await admit([home.origin]);

  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  await page.goto(home.origin);
  await page.getByRole("textbox").fill("What time is it in Tokyo?");
  await page.keyboard.press("Enter");
  await page.getByText("Right now in Tokyo it is").first().waitFor();
  expect(complaints).toEqual([]);

  await page.goto(evil.origin);
  const answer = await page.evaluate(
    `fetch("/chat-token").then((response) => response.json()).then(({ token }) =>
       fetch("${server.url}/v1/chat", {
         method: "POST",
         headers: { "content-type": "application/json", authorization: "Bearer " + token },
         body: JSON.stringify({ messages: [{ role: "user", content: "hi" }] }),
       })).then((response) => response.status, (error) => error.name)`,
  );
  expect(answer).toBe("TypeError");
  expect(complaints.join()).toContain("CORS");
  await page.close();
});

/** Starts the page of docs/embedding.md as it is written, and resolves with its address. */
async function startNewcomersPage(): Promise<{ origin: string; stop: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), "interlock-shop-"));
  const blocks = blocksIn("html", "css", "js").filter(({ file }) => file === "docs/embedding.md");
  const parts = {
    "index.html": "Our shop</title>",
    "shop.css": "shop-clock",
    "cards.js": "shop's clock",
  };
  for (const [file, mark] of Object.entries({ ...parts, "server.mjs": "createServer" })) {
    const text = blocks.find((block) => block.text.includes(mark))?.text ?? "";
    writeFileSync(join(folder, file), text.replaceAll("https://YOUR-WORKER", server.url));
  }
  const port = String(await freePort());
  const child = spawn(process.execPath, ["server.mjs"], {
    cwd: folder,
    env: { ...process.env, PORT: port, INTERLOCK_TOKEN: "" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  return { origin: `http://localhost:${port}`, stop: () => child.kill() };
}

test("the newcomer's page works as it is written, under its strict policy", async () => {
  const shop = await startNewcomersPage();
  try {
    await admit([shop.origin]);
    const page = await browser.newPage({ viewport: { width: 1000, height: 760 } });
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      const isFavicon = message.location().url.endsWith("/favicon.ico");
      if (message.type() === "error" && !isFavicon) complaints.push(message.text());
    });
    await page.goto(shop.origin);
    await page.getByRole("button", { name: "Ask the shop" }).click();
    await page.getByRole("textbox", { name: "Message" }).fill("What time is it in Tokyo?");
    await page.keyboard.press("Enter");
    await page.getByText("Right now in Tokyo it is").first().waitFor();
    await page.getByText("The shop's clock").waitFor();
    const clock = `document.querySelector("interlock-chat").shadowRoot
      .querySelector("[part=shop-clock]")`;
    expect(await page.evaluate(`${clock}.textContent`)).toMatch(/\d{4}/);
    expect(await page.evaluate(`getComputedStyle(${clock}).fontSize`)).toBe("24px");
    expect(complaints).toEqual([]);
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "hidden" });
    await takePicture(page, "launcher");
    await page.close();
  } finally {
    shop.stop();
  }
});

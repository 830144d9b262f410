import { createServer, type Server } from "node:http";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { HttpAgent } from "@ag-ui/client";
import type { DefaultChatTransport, UIMessage } from "ai";
import { build } from "esbuild";
import OpenAI from "openai";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { MEMBERS, TOKENS } from "../../scripts/chaos/host/deployment.ts";
import { script } from "../fakes/scripted-model.ts";
import { closePages, openBrowser } from "../../scripts/browser.ts";
import { blocksIn, nameOf, pinAgUi, ROOT } from "./code-blocks.ts";
import { fillRecipe, startRecipeHost, type RecipeHost } from "./recipe-host.ts";

const scratch = mkdtempSync(join(ROOT, ".interlock/recipes-"));
let host: RecipeHost;
let browser: Browser;
let pages: Server;
let [origin, bundle] = ["", ""];

/** The pages stand on an origin of their own, which the policy admits. */
beforeAll(async () => {
  pages = createServer((request, response) => {
    const isCode = request.url === "/page.js";
    response.writeHead(200, { "content-type": isCode ? "text/javascript" : "text/html" });
    response.end(isCode ? bundle : PAGE);
  });
  await new Promise<void>((listening) => pages.listen(0, "localhost", listening));
  origin = `http://localhost:${(pages.address() as AddressInfo).port}`;
  [browser, host] = await Promise.all([openBrowser(), startRecipeHost(scratch, [origin])]);
});
afterAll(async () => {
  await closePages(browser);
  await host.stop();
  pages.close();
  rmSync(scratch, { recursive: true, force: true });
});

const PAGE = '<!doctype html><meta charset="utf-8" /><main></main><script src="/page.js"></script>';

const RECIPES = blocksIn("ts").filter(
  ({ file, text: block }) => file.endsWith("clients.md") && !block.includes("interlock-edge"),
);

const recipeWith = (text: string): string =>
  RECIPES.find((block) => block.text.includes(text))?.text ?? "";

/** Loads a recipe as its reader would. */
async function load(recipe: string): Promise<Record<string, unknown>> {
  const file = join(mkdtempSync(join(scratch, "recipe-")), "recipe.ts");
  writeFileSync(file, fillRecipe(recipe, host));
  return (await import(/* @vite-ignore */ file)) as Record<string, unknown>;
}

test.each(RECIPES.map((block) => [nameOf(block), block] as const))(
  "%s has at most ten lines",
  (_name, { text: block }) => {
    expect(
      block
        .trim()
        .split("\n")
        .filter((line) => line !== "").length,
    ).toBeLessThanOrEqual(10);
  },
);

test("the recipe for Responses streams an answer, and the next one approves what it asks", async () => {
  const told = vi.spyOn(console, "log").mockImplementation(() => undefined);
  // A text that is no script comes back with the whole request.
  const { answer } = (await load(recipeWith("responses.stream"))) as {
    answer: OpenAI.Responses.Response;
  };
  expect(answer.output_text).toContain("What time is it?");
  expect(told.mock.calls.join("")).toBe(answer.output_text);
  told.mockRestore();
  const { approve } = (await load(recipeWith("mcp_approval_request"))) as {
    approve: (
      client: OpenAI,
      asked: OpenAI.Responses.Response,
    ) => Promise<OpenAI.Responses.Response>;
  };
  const client = new OpenAI({ baseURL: `${host.url}/v1`, apiKey: MEMBERS.dan });
  const calls = [{ id: "c", name: "core__generate_title", args: '{"title":"Noon"}' }];
  const asked = await client.responses.create({
    input: script({ calls }, { text: ["It is noon."] }),
  });
  expect(asked.output.map(({ type }) => type)).toEqual(["mcp_approval_request"]);
  const next = await approve(client, asked);
  expect(next.output_text).toBe("It is noon.");
  expect(next.output[0]).toMatchObject({ type: "mcp_call", status: "completed" });
});

test("the recipe for tools of the client runs what the model calls, and goes on", async () => {
  const { goOn } = (await load(recipeWith("function_call_output"))) as {
    goOn: (
      client: OpenAI,
      last: OpenAI.Responses.Response,
      run: (name: string, args: string) => Promise<string>,
    ) => Promise<OpenAI.Responses.Response>;
  };
  const client = new OpenAI({ baseURL: `${host.url}/v1`, apiKey: TOKENS.chaos });
  const calls = [{ id: "c", name: "open_file", args: '{"path":"a.txt"}' }];
  const last = await client.responses.create({
    input: script({ calls }, {}, { text: ["It is short."] }),
    tools: [{ type: "function", name: "open_file", parameters: null, strict: null }],
  });
  const run = vi.fn(() => Promise.resolve("the file"));
  expect((await goOn(client, last, run)).output_text).toBe("It is short.");
  expect(run.mock.calls).toEqual([["open_file", '{"path":"a.txt"}']]);
});

test("the recipe for Chat Completions streams the text of an assistant", async () => {
  expect((await load(recipeWith("chat.completions")))["answer"]).toContain("What time is it?");
});

test("the recipe for AG-UI gets an answer", async () => {
  const { agent } = (await load(recipeWith("export const agent"))) as { agent: HttpAgent };
  agent.addMessage({ id: "m", role: "user", content: "What time is it?" });
  await agent.runAgent();
  expect(agent.messages.at(-1)?.content).toContain("What time is it?");
});

test.each([
  ["7", (recipe: string) => recipe],
  ["6", (recipe: string) => recipe.replace("/api/chat", "/api/v6/chat").replace('"ai"', '"ai-6"')],
])("the recipe for useChat gets an answer with version %s", async (_version, change) => {
  const { options } = (await load(change(recipeWith("DefaultChatTransport")))) as {
    options: { transport: DefaultChatTransport<UIMessage> };
  };
  const stream = await options.transport.sendMessages({
    chatId: `recipe-${_version}`,
    messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "What time is it?" }] }],
    trigger: "submit-message",
    messageId: undefined,
    abortSignal: undefined,
  });
  const texts: string[] = [];
  for await (const chunk of stream) if (chunk.type === "text-delta") texts.push(chunk.delta);
  expect(texts.join("")).toContain("What time is it?");
});

describe("a page of assistant-ui in a browser", () => {
  /** Opens the page around the recipe that names a hook. */
  async function open(hook: string): Promise<Page> {
    writeFileSync(join(scratch, "recipe.ts"), pinAgUi(fillRecipe(recipeWith(hook), host)));
    const contents = `import { draw } from "${import.meta.dirname}/assistant-ui-page.mjs";
      import { useInterlock } from "./recipe.ts";
      draw(useInterlock);`;
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: scratch },
      bundle: true,
      write: false,
      format: "iife",
      define: { "process.env.NODE_ENV": '"production"' },
    });
    bundle = outputFiles[0]?.text ?? "";
    const page = await browser.newPage();
    await page.goto(origin);
    return page;
  }

  async function say(page: Page, text: string): Promise<void> {
    await page.getByPlaceholder("Say").fill(text);
    await page.getByRole("button", { name: "Send" }).click();
  }

  const TITLE = { id: "c", name: "core__generate_title", args: '{"title":"Noon"}' };
  const TIME = { id: "t", name: "core__get_current_time", args: '{"timeZone":"UTC"}' };

  test.each(["useChatRuntime", "useAgUiRuntime"])(
    "with %s draws an answer, and the rest of one that the person allows",
    async (hook) => {
      const page = await open(hook);
      await say(page, script({ text: ["It is noon."] }));
      await page.getByText("It is noon.", { exact: true }).waitFor();
      await say(page, script({ calls: [TITLE] }, { text: ["Named it."] }));
      await page.getByRole("button", { name: "Allow" }).click();
      await page.getByText("Named it.", { exact: true }).waitFor();
      const calls = await page.locator("section").allTextContents();
      expect(calls).toEqual(["core__generate_title: ended"]);
      await say(page, script({ text: ["And on."] }));
      await page.getByText("And on.", { exact: true }).waitFor();
      await page.close();
    },
  );

  test("with useDataStreamRuntime draws the answers of one chat, and a call", async () => {
    const page = await open("useDataStreamRuntime");
    await say(page, script({ calls: [TIME] }, { text: ["It is noon."] }));
    await page.getByText("It is noon.", { exact: true }).waitFor();
    const calls = await page.locator("section").allTextContents();
    expect(calls).toEqual(["core__get_current_time: ended"]);
    // A text that is no script comes back with all that the model was shown.
    await say(page, "And then?");
    await page.getByText(/"content":"It is noon."/).waitFor();
    await page.close();
  });
});

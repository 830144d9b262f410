import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { join } from "node:path";
import type { HttpAgent } from "@ag-ui/client";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { MEMBERS, planDeployment, TOKENS } from "../../scripts/chaos/deployment.ts";
import { hostWorker, type Host } from "../../scripts/chaos/hosts.ts";
import { bundleWithClients, CLIENTS } from "../../scripts/wire-bundles.ts";
import { answerAsProvider, script } from "../fakes/scripted-model.ts";
import { blocksIn, nameOf, ROOT } from "./code-blocks.ts";

const POLICY = {
  allowedTools: ["core__generate_title"],
  requireApprovalForEffects: ["state_change"],
};
const scratch = mkdtempSync(join(ROOT, ".interlock/recipes-"));
let provider: Server;
let host: Host;

/** The reference deployment with every client, before a provider that plays scripts. */
beforeAll(async () => {
  provider = createServer((request, response) => {
    void (async () => {
      const init = { method: "POST", body: await text(request) };
      const answer = await answerAsProvider(new Request(`http://x.test${request.url}`, init));
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(await answer.text());
    })();
  });
  await new Promise<void>((listening) => provider.listen(0, "127.0.0.1", listening));
  const { port } = provider.address() as AddressInfo;
  const { code } = await bundleWithClients(Object.keys(CLIENTS));
  const deployment = planDeployment(code, `http://127.0.0.1:${port}`);
  host = await hostWorker(deployment, scratch, async (url) => {
    const headers = {
      authorization: `Bearer ${TOKENS.chaos}`,
      "content-type": "application/json",
      "if-none-match": "*",
    };
    const body = JSON.stringify(POLICY);
    const answer = await fetch(`${url}/v1/policy`, { method: "PUT", headers, body });
    if (!answer.ok) throw new Error(await answer.text());
  });
  await host.start();
});
afterAll(async () => {
  await host.stop();
  provider.close();
  rmSync(scratch, { recursive: true, force: true });
});

const RECIPES = blocksIn("ts").filter(
  ({ file, text: block }) =>
    file.endsWith("clients.md") && /from "(?:openai|@ag-ui\/client)"/.test(block),
);

/** Loads a recipe as its reader would, with an address and a token. */
async function load(index: number): Promise<Record<string, unknown>> {
  const block = RECIPES[index]?.text ?? "";
  const file = join(scratch, `recipe-${index}.ts`);
  const token = `const token: string = "${MEMBERS.dan}";`;
  const filled = block
    .replace("https://YOUR-WORKER", host.url)
    .replace("declare const token: string;", token);
  writeFileSync(file, filled);
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
  const { answer } = (await load(1)) as { answer: OpenAI.Responses.Response };
  expect(answer.output_text).toContain("What time is it?");
  expect(told.mock.calls.join("")).toBe(answer.output_text);
  told.mockRestore();
  const { approve } = (await load(2)) as {
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

test("the recipe for Chat Completions streams the text of an assistant", async () => {
  expect((await load(3))["answer"]).toContain("What time is it?");
});

test("the recipe for AG-UI gets an answer", async () => {
  const { agent } = (await load(0)) as { agent: HttpAgent };
  agent.addMessage({ id: "m", role: "user", content: "What time is it?" });
  await agent.runAgent();
  expect(agent.messages.at(-1)?.content).toContain("What time is it?");
});

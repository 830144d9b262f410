import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { PACKAGE_FOLDER } from "../../cli/project/folders.ts";
import { startLoopback } from "../adapters/model/loopback.ts";
import { CHAT } from "../fakes/provider-wires.ts";
import { inDays, providerOf } from "../shared/model-lists.ts";
import { ProjectFolder } from "../shared/project-folder.ts";

const source = (file: string): string => JSON.stringify(join(PACKAGE_FOLDER, "src", file));
/** A small deployment with every wire. */
const ENTRY = `
import { defineDeployment } from ${source("../test/shared/define-options.ts")};
import { CORE_TOOLS } from ${source("core-tools/pack.ts")};
import { anthropicWire } from ${source("wire/anthropic/wire.ts")};
import { assistantTransport } from ${source("wire/assistant-transport/wire.ts")};
import { openAIWire } from ${source("wire/openai/wire.ts")};
import { responsesWire } from ${source("wire/responses/wire.ts")};
const wires = { models: [openAIWire, responsesWire, anthropicWire], clients: [assistantTransport] };
export default defineDeployment({ tools: CORE_TOOLS, compiled: undefined, wires }).worker;
`;
const project = new ProjectFolder();
project.write("wrangler.toml", 'main = "src/index.ts"\n');
project.write("src/index.ts", ENTRY);
afterAll(() => project[Symbol.dispose]());
const KEY = "sk-loopback-0123456789";

/** Runs the command with these models at a provider of both wires. */
const runModels = (models: string, origin: string, args: readonly string[] = []) =>
  project.run(["models", ...args], {
    MODELS: models,
    OPENAI_BASE_URL: `${origin}/v1`,
    OPENAI_API_KEY: KEY,
    ANTHROPIC_BASE_URL: `${origin}/v1`,
    ANTHROPIC_API_KEY: KEY,
  });

test("a list that never ends is not read on", async () => {
  const endless = createServer((_request, response) => {
    const block = Buffer.alloc(64 * 1024, 32);
    const go = (): void => {
      while (!response.destroyed && response.write(block));
    };
    response.on("drain", go);
    go();
  }).listen(0, "127.0.0.1");
  await once(endless, "listening");
  const { port } = endless.address() as AddressInfo;
  const { exitCode, stdout } = await runModels("a", `http://127.0.0.1:${port}`);
  endless.closeAllConnections();
  endless.close();
  const reason = "its provider could not be asked: its answer is longer than 8 MiB";
  expect([exitCode, stdout]).toEqual([2, `a (openai): ${reason}\n`]);
});

const listOf = (...models: readonly object[]) => ({ object: "list", data: models });

describe("npm run models", () => {
  test("finds nothing to do where every model is listed, and asks a provider once", async () => {
    await using provider = await providerOf(
      listOf({ id: "a", shutdown_date: null }, { id: "b", shutdown_date: inDays(90) }),
    );
    const { exitCode, stdout } = await runModels("a,responses:b", provider.origin);
    expect(stdout.split("\n")).toEqual([
      "a (openai): ok",
      `b (responses): ok, retires on ${inDays(90)}`,
      "",
    ]);
    expect(exitCode).toBe(0);
    expect(
      provider.requests.map(({ method, path, headers }) => [method, path, headers.authorization]),
    ).toEqual([["GET", "/v1/models", `Bearer ${KEY}`]]);
  });

  test("warns of a retirement within 60 days, of a past one, and of an unknown model", async () => {
    await using provider = await providerOf(
      listOf({ id: "soon", shutdown_date: inDays(30) }, { id: "gone", shutdown_date: inDays(-3) }),
    );
    const { exitCode, stdout } = await runModels("soon,gone,lost", provider.origin, ["--json"]);
    expect(exitCode).toBe(1);
    const { models } = JSON.parse(stdout) as { models: readonly object[] };
    expect(models).toMatchObject([
      { id: "soon", offered: true, state: "retiring", shutdownDate: inDays(30) },
      { id: "gone", state: "retired", shutdownDate: inDays(-3) },
      { id: "lost", state: "unknown" },
    ]);
  });

  test("reads all pages of Anthropic's list, with its key and version", async () => {
    const pages = [
      { data: [{ type: "model", id: "x" }], has_more: true, last_id: "x" },
      { data: [{ type: "model", id: "claude-a" }], has_more: false, last_id: "claude-a" },
    ];
    let asked = 0;
    await using provider = await startLoopback((response) => {
      response.end(JSON.stringify(pages[asked++]));
    });
    const { exitCode } = await runModels("anthropic:claude-a", provider.origin);
    expect(exitCode).toBe(0);
    expect(provider.requests.map(({ path }) => path)).toEqual([
      "/v1/models?limit=1000",
      "/v1/models?limit=1000&after_id=x",
    ]);
    expect(provider.requests[0]?.headers).toMatchObject({
      "x-api-key": KEY,
      "anthropic-version": "2023-06-01",
    });
  });

  test("never prints the key, whatever a provider answers, and follows no redirect", async () => {
    await using elsewhere = await providerOf(listOf({ id: "a" }));
    await using echo = await providerOf({ error: { message: `Invalid key ${KEY}` } }, 401);
    await using words = await providerOf(`not JSON, but ${KEY}`);
    await using names = await providerOf(listOf({ id: KEY, shutdown_date: `2027-01-01 ${KEY}` }));
    await using redirect = await startLoopback((response) => {
      response.writeHead(307, { location: `${elsewhere.origin}/v1/models` }).end();
    });
    const codes: [exitCode: number, ofJson: number][] = [];
    for (const { origin } of [echo, words, names, redirect]) {
      const text = await runModels("a", origin);
      const json = await runModels("a", origin, ["--json"]);
      expect(text.all + json.all).not.toContain(KEY);
      codes.push([text.exitCode, json.exitCode]);
    }
    expect(codes).toEqual([
      [2, 2],
      [2, 2],
      [1, 1],
      [2, 2],
    ]);
    expect(elsewhere.requests).toEqual([]);
  });

  test("says what is wrong with the settings, and ends with 2", async () => {
    const { exitCode, stderr } = await runModels(" , ", "http://127.0.0.1:9");
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/^MODELS is not valid/)]);
  });

  test("asks each model on demand, and names the wire that its answer is of", async () => {
    const list = JSON.stringify(listOf({ id: "a" }, { id: "b" }));
    const chat = CHAT.frames({ text: ["Hi"] }).join("");
    await using provider = await startLoopback((response) => {
      response.end(response.req.url === "/v1/models" ? list : chat);
    });
    const silent = await runModels("a,responses:b", provider.origin);
    expect([silent.exitCode, provider.requests.length]).toEqual([0, 1]);
    const { exitCode, stdout } = await runModels("a,responses:b", provider.origin, ["--ask"]);
    expect(stdout).toMatch(/^a \(openai\): ok\nb \(responses\): WARNING: .*wire openai.*openai:b/);
    expect(exitCode).toBe(1);
  });

  test("cannot tell when a provider is unreachable", async () => {
    const { exitCode, stdout } = await runModels("a", "http://127.0.0.1:9");
    expect(stdout).toBe("a (openai): its provider could not be asked: it cannot be reached\n");
    expect(exitCode).toBe(2);
  });
});

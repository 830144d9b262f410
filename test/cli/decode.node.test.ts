import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { ANTHROPIC, CHAT, RESPONSES } from "../fakes/provider-wires.ts";
import { sendEvents, startLoopback } from "../adapters/model/loopback.ts";

const ROOT = join(import.meta.dirname, "../..");

function startDecode(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const clean = { ...process.env };
  delete clean["OPENAI_API_KEY"];
  return spawn(process.execPath, ["cli/interlock.ts", "decode", ...args], {
    cwd: ROOT,
    env: { ...clean, ...env },
  });
}

/** Runs the tool on this input to its end. */
async function runDecode(
  args: readonly string[],
  input: string,
  env?: Readonly<Record<string, string>>,
) {
  const child = startDecode(args, env);
  child.stdin.end(input);
  const exited = once(child, "exit");
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [exitCode] = await exited;
  const lines = stdout.split("\n").filter((line) => line !== "");
  return { exitCode, stderr, reports: lines.map((line): unknown => JSON.parse(line)) };
}

function golden(name: string) {
  const file = join(ROOT, "test/fixtures/openai", `${name}.json`);
  return JSON.parse(readFileSync(file, "utf8")) as {
    readonly sse: string;
    readonly expect: object;
  };
}

describe("decode", () => {
  test("prints one line per address, in order, and continues after a bad one", async () => {
    const text = golden("text");
    const cut = golden("length-cuts-arguments");
    await using good = await startLoopback((response) => sendEvents(response, text.sse));
    await using long = await startLoopback((response) => sendEvents(response, cut.sse));
    const urls = [good.origin, "no address", "ftp://127.0.0.1", "http://127.0.0.1:9", long.origin];
    const { exitCode, reports } = await runDecode(
      ["--wire", "openai"],
      `\n${urls.join("\n\n")}  \r\n  \n`,
    );
    const refused = (url: string | undefined) => ({
      url,
      text: "",
      toolCalls: [],
      finish: "error",
      error: { code: "upstream_unreachable", detail: expect.any(String) },
    });
    expect(reports).toEqual([
      { url: urls[0], ...text.expect },
      refused(urls[1]),
      refused(urls[2]),
      refused(urls[3]),
      { url: urls[4], ...cut.expect },
    ]);
    expect(exitCode).toBe(0);
  });

  test("requests as the product does, with the key of the environment", async () => {
    await using server = await startLoopback((response) =>
      sendEvents(response, golden("text").sse),
    );
    for (const env of [{}, { OPENAI_API_KEY: "sk-of-the-environment" }]) {
      const child = startDecode(["--wire=openai"], env);
      child.stdin.end(`${server.origin}/v1`);
      await once(child, "exit");
    }
    expect(server.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ["/v1/chat/completions", "Bearer none"],
      ["/v1/chat/completions", "Bearer sk-of-the-environment"],
    ]);
    expect(JSON.parse(server.requests[0]?.body ?? "")).toMatchObject({ stream: true });
    expect(JSON.parse(server.requests[0]?.body ?? "")).not.toHaveProperty("tools");
  });

  test.each([
    ["openai", CHAT, "authorization", "Bearer sk-of-openai"],
    ["responses", RESPONSES, "authorization", "Bearer sk-of-openai"],
    ["anthropic", ANTHROPIC, "x-api-key", "sk-of-anthropic"],
  ] as const)("prints the same line on the wire %s", async (wire, played, header, key) => {
    const calls = [{ id: "a", name: "lamp__set", args: '{"on":true}' }];
    const sse = played.frames({ text: ["Hi"], calls }).join("");
    await using server = await startLoopback((response) => sendEvents(response, sse));
    const env = { OPENAI_API_KEY: "sk-of-openai", ANTHROPIC_API_KEY: "sk-of-anthropic" };
    const { reports } = await runDecode(["--wire", wire], `${server.origin}/v1\n`, env);
    expect(reports).toEqual([
      {
        url: `${server.origin}/v1`,
        text: "Hi",
        toolCalls: [{ id: "a", name: "lamp__set", arguments: { on: true } }],
        finish: "tool_calls",
        usage: { prompt: 10, completion: 2 },
      },
    ]);
    expect(server.requests.map(({ path, headers }) => [path, headers[header]])).toEqual([
      [`/v1${played.path}`, key],
    ]);
  });

  test("says which wire an answer looks like, and how to name the model", async () => {
    const sse = CHAT.frames({ text: ["Hi"] }).join("");
    await using server = await startLoopback((response) => sendEvents(response, sse));
    const args = ["--wire", "responses", "--model", "m"];
    const { reports } = await runDecode(args, server.origin);
    expect(reports).toMatchObject([
      { error: { code: "upstream_wrong_wire", detail: expect.stringContaining("openai:m") } },
    ]);
  });

  test("decodes recorded answers, whole, cut off or one document, and asks nobody", async () => {
    const { sse, expect: told } = golden("text");
    const cut = sse.slice(0, Math.floor(sse.length / 2));
    const document = { choices: [{ message: { content: "Hi" }, finish_reason: "stop" }] };
    const texts = { "whole.sse": sse, "cut.sse": cut, "one.json": JSON.stringify(document) };
    const folder = mkdtempSync(join(tmpdir(), "interlock-decode-"));
    const files = Object.entries(texts).map(([name, body]) => {
      writeFileSync(join(folder, name), body);
      return join(folder, name);
    });
    const { exitCode, reports } = await runDecode(["--wire", "openai", ...files], "");
    const missing = await runDecode(["--wire", "openai", join(folder, "none.sse")], "");
    rmSync(folder, { recursive: true });
    expect(exitCode).toBe(0);
    expect(reports).toMatchObject([
      { file: files[0], ...told },
      { file: files[1], finish: "error", error: { code: "upstream_truncated" } },
      { file: files[2], text: "Hi", finish: "stop" },
    ]);
    expect([missing.exitCode, missing.stderr]).toEqual([
      1,
      expect.stringContaining("none.sse cannot be read"),
    ]);
  });

  test("prints a refusal as a content filter, with the exact word", async () => {
    const sse = ANTHROPIC.frames({ text: ["I"], finish: "refusal" }).join("");
    await using server = await startLoopback((response) => sendEvents(response, sse));
    const { reports } = await runDecode(["--wire", "anthropic"], `${server.origin}\n`);
    expect(reports).toMatchObject([{ finish: "content_filter", reason: "refusal" }]);
  });

  test("prints a line as soon as it is ready, while stdin stays open", async () => {
    await using server = await startLoopback((response) =>
      sendEvents(response, golden("text").sse),
    );
    const child = startDecode(["--wire", "openai"]);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    for (const url of [`${server.origin}/a`, `${server.origin}/b`]) {
      child.stdin.write(`${url}\n`);
      expect(JSON.parse((await lines.next()).value ?? "")).toMatchObject({ url, finish: "stop" });
    }
    child.stdin.end();
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  test("arguments with unlimited nesting are invalid and stop nothing", async () => {
    const deep = `{\\"a\\":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
    const call = `{"index":0,"id":"a","function":{"name":"lamp__set","arguments":"${deep}"}}`;
    const sse = `data: {"choices":[{"delta":{"tool_calls":[${call}]},"finish_reason":"stop"}]}\n\n`;
    await using server = await startLoopback((response) => sendEvents(response, sse));
    const { reports } = await runDecode(["--wire", "openai"], `${server.origin}\nnonsense\n`);
    expect(reports).toMatchObject([
      { toolCalls: [{ id: "a", name: "lamp__set", arguments: { __invalid__: true } }] },
      { finish: "error" },
    ]);
  });

  test.for([
    [],
    ["--wire"],
    ["--wire", "carrier-pigeon"],
    ["--wire", "openai", "--loud"],
    ["--wire", "openai", "http://127.0.0.1"],
  ])("refuses the command line %j with its usage", async (args) => {
    const { exitCode, stderr, reports } = await runDecode(args, "http://127.0.0.1:9\n");
    expect([exitCode, reports]).toEqual([2, []]);
    expect(stderr).toContain("Usage:");
  });
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { TOOLS } from "../../src/tools/index.ts";
import { publishContract } from "../../src/contracts/catalog/published-contract.ts";
import { registerContracts } from "../../src/contracts/check/register.ts";
import { PACKAGE_FOLDER } from "../../cli/project/folders.ts";
import { runCommand } from "../shared/command-process.ts";
import { startDev, type DevServer } from "../shared/dev-server.ts";
import { ProjectFolder } from "../shared/project-folder.ts";
import { runChat } from "../../cli/chat/chat-loop.ts";
import type { Terminal } from "../../cli/chat/terminal.ts";
import { createClient } from "../../src/client/client.ts";

interface State {
  readonly status: string;
  readonly toolCalls: readonly { readonly name: string }[];
}

const ask = (url: string, content: string): Promise<Response> =>
  fetch(`${url}/v1/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content }] }),
  });

/** Replaces the policy of the tenant of development. */
async function changePolicy(url: string, policy: object): Promise<Response> {
  const etag = (await fetch(`${url}/v1/policy`)).headers.get("etag") ?? "";
  return fetch(`${url}/v1/policy`, {
    method: "PUT",
    headers: { "content-type": "application/json", "if-match": etag },
    body: JSON.stringify(policy),
  });
}

/** Runs `interlock chat` with these lines in a pipe. */
async function chatThroughPipe(url: string, lines: readonly string[], ...more: readonly string[]) {
  const args = ["cli/interlock.ts", "chat", "--url", url, ...more];
  const child = spawn(process.execPath, args, { cwd: PACKAGE_FOLDER });
  child.stdin.end(lines.map((line) => `${line}\n`).join(""));
  const exited = once(child, "exit");
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [exitCode] = await exited;
  return { stdout, stderr, exitCode };
}

/** Gives a command a terminal. Debian always has it; other systems have another one. */
const SCRIPT = "/usr/bin/script";
const HAS_TERMINALS = process.platform === "linux" && existsSync(SCRIPT);

/** Runs `interlock chat` in a terminal, and presses keys each time it shows what is waited for. */
async function chatAtTerminal(url: string, keys: (readonly [shown: RegExp, keys: string])[]) {
  const chat = `"${process.execPath}" cli/interlock.ts chat --url ${url}`;
  const child = spawn(SCRIPT, ["-qec", chat, "/dev/null"], { cwd: PACKAGE_FOLDER });
  onTestFinished(() => void child.kill());
  let [all, unread] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    all += piece;
    unread += piece;
    const [next] = keys;
    if (!next?.[0].test(unread)) return;
    unread = "";
    keys.shift();
    child.stdin.write(next[1]);
  });
  const [exitCode] = await once(child, "exit");
  return { all, exitCode };
}

/** A person at a terminal, who answers with these lines. */
function sitAtTerminal(lines: string[]): Terminal & { readonly shown: string[] } {
  const shown: string[] = [];
  return {
    shown,
    isInteractive: true,
    write: (piece) => void shown.push(piece),
    note: (line) => void shown.push(line),
    ask: (prompt) => {
      shown.push(prompt);
      return Promise.resolve(lines.shift());
    },
    onInterrupt: () => undefined,
    close: () => undefined,
  };
}

describe("npm run dev, offline", () => {
  let server: DevServer;
  beforeAll(async () => {
    server = await startDev();
  });
  afterAll(() => server.end("SIGTERM"));

  test("prints its address and that it needs no key", () => {
    expect(server.output()).toContain(`${server.url}/`);
    expect(server.output()).toContain("offline model");
  });

  test.each([
    ["text", "Hello", [], /offline model/],
    ["one tool", "What time is it in Tokyo?", ["core__get_current_time"], /in Tokyo it is/],
    [
      "two tools at once",
      "The time in Tokyo and in New York?",
      ["core__get_current_time", "core__get_current_time"],
      /Tokyo.*New York/,
    ],
    [
      "a chain of three steps",
      "Please plan a call with Tokyo",
      ["core__generate_title", "core__get_current_time", "core__calculate"],
      /8 hours/,
    ],
    [
      "wrong arguments, then a correction",
      "Make a mistake and correct yourself",
      ["core__get_current_time", "core__get_current_time"],
      /corrected it/,
    ],
    ["a call spelt out", 'call core__calculate {"expression":"6*7"}', ["core__calculate"], /42/],
    ["a calculation", "What is 12.5% of 480?", ["core__calculate"], /= 60/],
  ])("answers from fixtures: %s", async (_name, question, tools, answer) => {
    const response = await ask(server.url, question);
    const stream = await response.text();
    const text = [...stream.matchAll(/"textDelta":"((?:[^"\\]|\\.)*)"/g)]
      .map(([, delta]) => JSON.parse(`"${delta}"`) as string)
      .join("");
    expect(text.replaceAll("\n", " ")).toMatch(answer);
    const runId = response.headers.get("x-run-id");
    const state: State = await (await fetch(`${server.url}/v1/runs/${runId}`)).json();
    const { toolCalls, status } = state;
    expect([status, toolCalls.map(({ name }) => name)]).toEqual(["completed", tools]);
  });

  test.each(registerContracts(TOOLS).map((known) => [known.spec.name, known] as const))(
    "publishes the compiled contract of %s as the code derives it, to the byte",
    async (name, known) => {
      const published = await (await fetch(`${server.url}/v1/tools/${name}`)).text();
      expect(published).toBe(JSON.stringify(await publishContract(known)));
    },
  );

  test("a page of another origin is refused", async () => {
    const response = await fetch(`${server.url}/v1/tools`, {
      headers: { origin: "https://evil.example" },
    });
    expect(response.status).toBe(401);
  });

  test("a page whose name is rebound to loopback is refused", async () => {
    const line = "GET /v1/tools HTTP/1.1";
    const forged = `mf-original-url: ${server.url}/v1/tools`;
    expect(await rawStatus(server.url, [line, "host: evil.test", forged])).toBe(403);
    // The platform's own server listens on another port, and believes the header.
    const inner = `http://127.0.0.1:${server.innerPort()}`;
    expect(await rawStatus(inner, [line, "host: evil.test", forged])).toBe(401);
  });

  test("a page on another local port reads no data of the platform, past this server neither", async () => {
    const headers = { origin: "http://localhost:9999" };
    const read = async (url: string, path: string): Promise<readonly [number, string]> => {
      const answer = await fetch(`${url}/cdn-cgi/${path}`, { headers });
      return [answer.status, await answer.text()];
    };
    const inner = `http://127.0.0.1:${server.innerPort()}`;
    for (const path of ["local/explorer", "local/explorer/api/storage/kv/namespaces"]) {
      expect(await read(server.url, path)).toMatchObject([403, /own origin only/]);
      const [status, text] = await read(inner, path);
      expect([status, text.includes("POLICY")]).toEqual([404, false]);
    }
  });

  test.each([
    ["with a line end in it", "0-1\n0-2"],
    ["of a megabyte", "1".repeat(1024 * 1024)],
  ])("a Last-Event-ID %s never reaches a run", async (_name, lastEventId) => {
    const started = await ask(server.url, "Hello");
    await started.text();
    const runId = started.headers.get("x-run-id") ?? "";
    const status = await rawStatus(server.url, [
      `GET /v1/runs/${runId}/events HTTP/1.1`,
      "host: 127.0.0.1",
      `last-event-id: ${lastEventId}`,
    ]);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  });

  test("interlock explain says what happened in a run, and which gate ended its call", async () => {
    const response = await ask(server.url, 'call core__calculate {"expression":"6*"}');
    await response.text();
    const runId = response.headers.get("x-run-id") ?? "";
    const port = new URL(server.url).port;
    const explain = (id: string) => runCommand(["explain", id, "--port", port], PACKAGE_FOLDER);
    // The audit log learns of the end of a run within about a second.
    await expect
      .poll(async () => (await explain(runId)).stdout)
      .toMatch(
        new RegExp(
          `^${runId}: completed\n {2}The model gave its answer.\n` +
            "[^]*begun by user:developer[^]*ended: stop\n\n" +
            "inv_1 core__calculate@[^]*the gate \\w+ ended it, because ",
        ),
      );
    const unknown = await explain("run_of_nobody");
    expect([unknown.exitCode, unknown.stderr]).toEqual([
      1,
      expect.stringContaining("404 run_not_found"),
    ]);
  });

  test("interlock export writes what the last run left, and interlock evaluate reads it", async () => {
    using folder = new ProjectFolder();
    const response = await ask(server.url, 'call core__calculate {"expression":"6*7"}');
    await response.text();
    const runId = response.headers.get("x-run-id") ?? "";
    const { port } = new URL(server.url);
    const runs = join(folder.path, "runs");
    const exporting = ["export", runs, "--last", "1", "--port", port];
    // The list and the log learn of the end of a run about a second later.
    await expect
      .poll(async () => (await fetch(`${server.url}/v1/runs/${runId}/trace`)).json())
      .toMatchObject({ notices: { arePending: false } });
    const { stdout: said } = await runCommand(exporting, PACKAGE_FOLDER);
    expect(said).toMatch(/^traces: 1\nreplays: 0; without: unknown_route 1\ncontracts: [1-9]\d*\n/);
    expect(readdirSync(runs)).toEqual(
      expect.arrayContaining(["audit.jsonl", "core__calculate.tool.json", `${runId}.trace.json`]),
    );
    const [, printed = ""] = /^npx interlock (evaluate .*)$/m.exec(said) ?? [];
    const evaluated = await runCommand(printed.split(" "), PACKAGE_FOLDER);
    expect(evaluated.stdout).toMatch(/Retry: \d+ looked at, no fault\n/);
    expect(evaluated.stdout).toMatch(/Schema drift: \d+ looked at, no fault\n/);
    expect(evaluated.stderr).toBe("");
    const again = await runCommand(exporting, PACKAGE_FOLDER);
    expect([again.exitCode, again.stderr]).toEqual([
      1,
      expect.stringContaining("is no empty folder"),
    ]);
  });

  test("comes back when the runtime of its Worker is killed, and says so", async () => {
    const kept = await ask(server.url, "Hello");
    await kept.text();
    server.killRuntime();
    await expect.poll(server.output).toContain("Interlock starts it again.");
    await expect.poll(server.output).toContain("Interlock is ready again");
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    const state = await fetch(`${server.url}/v1/runs/${kept.headers.get("x-run-id")}`);
    expect(await state.json()).toMatchObject({ status: "completed" });
  });

  test("prints what people are told of, and nothing that the Worker did not sign", async () => {
    const page = `${server.url}/approvals`;
    const tools = ["core__generate_title"];
    const approvals = [{ tools, pattern: "user_consent" }];
    const notifications = { connection: "notifications", page };
    const policy = { allowedTools: tools, approvals, notifications };
    expect((await changePolicy(server.url, policy)).status).toBe(200);
    await (await ask(server.url, 'call core__generate_title {"title":"Noon"}')).text();
    const line = new RegExp(`Notification: approval.requested, user_consent, .*: ${page}#appr_`);
    await expect.poll(() => server.output()).toMatch(line);
    const forged = { type: "approval.requested", data: { link: "https://evil.example" } };
    const answer = await fetch(`${server.url}/__development/notifications`, {
      method: "POST",
      headers: { "webhook-id": "msg_1", "webhook-timestamp": "1", "webhook-signature": "v1,AA==" },
      body: JSON.stringify(forged),
    });
    expect(answer.status).toBe(401);
    expect(server.output()).not.toContain("evil.example");
  });

  test("a chat through a pipe shows text and tools, and goes on in its conversation", async () => {
    expect((await changePolicy(server.url, { allowedTools: ["core__calculate"] })).status).toBe(
      200,
    );
    const first = await chatThroughPipe(server.url, ["Hello", "What is 12.5% of 480?"]);
    expect(first.stdout).toMatch(/offline model[^]*= 60/);
    expect(first.stderr).toMatch(/· core__calculate: SUCCESS/);
    expect(first.exitCode).toBe(0);
    const [, id = ""] = /--conversation (run_\w+)/.exec(first.stderr) ?? [];
    const next = await chatThroughPipe(server.url, ["Hello again"], "--conversation", id);
    expect(next.exitCode).toBe(0);
    const client = createClient({ baseUrl: server.url });
    const kept = await client.conversations.messages(id);
    expect(kept.ok && kept.value.turns.length).toBe(3);
    const away = await chatThroughPipe(server.url, ["Hello"], "--url", "http://example.com");
    expect([away.exitCode, away.stderr]).toEqual([2, expect.stringContaining("https address")]);
  }, 60_000);

  test("a person at a terminal decides by a whole word, and a pipe decides nothing", async () => {
    const approvals = [{ tools: ["core__generate_title"], pattern: "user_consent" }];
    const policy = { allowedTools: ["core__generate_title"], approvals };
    expect((await changePolicy(server.url, policy)).status).toBe(200);
    const call = 'call core__generate_title {"title":"Noon"}';
    const client = createClient({ baseUrl: server.url });
    const terminal = sitAtTerminal([call, "y"]);
    await runChat({ client, terminal }, {});
    expect(terminal.shown.join("\n")).toMatch(/Approve\? Type yes, or no[^]*\n {2}rejected/);
    const piped = await chatThroughPipe(server.url, [call, "yes"]);
    expect(piped.stderr).toMatch(/waits for a person/);
    expect(piped.exitCode).toBe(1);
    // What a test hands over in place of keys skips the terminal itself.
    if (HAS_TERMINALS) {
      const [enter, backspace, endOfInput] = ["\r", "\u007f", "\u0004"];
      const { all, exitCode } = await chatAtTerminal(server.url, [
        [/> /, `${call}${enter}`],
        [/Type yes, or no: /, `yex${backspace}s${enter}`],
        [/SUCCESS[^]*> /, endOfInput],
      ]);
      expect(all).toMatch(/Title: Noon[^]* {2}approved[^]*core__generate_title: SUCCESS/);
      expect(exitCode).toBe(0);
    }
    const pending = await client.approvals.list({ status: "pending", limit: 100 });
    expect(pending.ok && pending.value.approvals.length).toBeGreaterThan(0);
  }, 60_000);

  test("SIGTERM leaves no process behind", async () => {
    await server.end("SIGTERM");
    expect(server.survivors()).toEqual([]);
  });
});

/** Sends raw request lines and returns the status. 400 for a refused connection. */
function rawStatus(url: string, lines: readonly string[]): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    });
    socket.on("error", () => resolve(400));
    socket.on("data", (bytes) => {
      answer += bytes.toString();
      const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1];
      if (status === undefined) return;
      resolve(Number(status));
      socket.destroy();
    });
  });
}

import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../cli/development/free-port.ts";
import { copyRepository } from "../shared/copied-repository.ts";
import { processesNaming } from "../shared/dev-server.ts";
import { sampleOfGroups } from "../shared/sample.ts";

const TOOL = "src/core-tools/calculate.ts";

/** A copy of the repository, whose tools a test breaks. */
let copy: string;
let text: string;
let port: number;
let server: ChildProcess | undefined;
let output: string;

beforeAll(() => {
  copy = copyRepository("cli", "scripts", "tenant", "dist/public");
  text = readFileSync(join(copy, TOOL), "utf8");
});
afterEach(async () => {
  writeFileSync(join(copy, TOOL), text);
  server?.kill("SIGTERM");
  await ended();
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** Starts `interlock dev` with these flags and variables; `chosen` is its port. */
async function start({
  chosen,
  flags = [],
  variables = {},
}: {
  readonly chosen?: number;
  readonly flags?: readonly string[];
  readonly variables?: NodeJS.ProcessEnv;
} = {}): Promise<void> {
  port = chosen ?? (await freePort());
  output = "";
  const all = ["dev", "--port", String(port), "--persist-to", stateFolder(), ...flags];
  const own = /^(?:OPENAI|ANTHROPIC)_/;
  const inherited = Object.entries(process.env).filter(([name]) => !own.test(name));
  server = spawn(process.execPath, [join(copy, "cli/interlock.ts"), ...all], {
    cwd: copy,
    env: { ...Object.fromEntries(inherited), ...variables },
  });
  server.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  server.stderr?.on("data", (chunk: Buffer) => (output += chunk.toString()));
}

function stateFolder(): string {
  return join(copy, "state");
}

function ended(): Promise<number | null> {
  return new Promise((resolve) => {
    if (!server || server.exitCode !== null) resolve(server?.exitCode ?? null);
    else server.once("exit", (code) => resolve(code));
  });
}

async function ask(): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
  return answer ? `${answer.status} ${await answer.text()}` : "none";
}

/**
 * Saves a text and asks. The platform's server may not watch the files yet when it is ready, so a
 * person saves again; but not soon, because a busy machine builds slowly and each save starts the
 * build again.
 */
function save(changed: string): Promise<string> {
  const nowMs = Date.now();
  if (changed !== saved.text || nowMs - saved.atMs > SAVE_AGAIN_MS) {
    writeFileSync(join(copy, TOOL), changed);
    saved = { text: changed, atMs: nowMs };
  }
  return ask();
}

const SAVE_AGAIN_MS = 30_000;
let saved = { text: "", atMs: 0 };

const SLOWLY = { interval: 1_000 };

/** Waits until the server has printed a text. */
async function told(words: string): Promise<void> {
  await expect.poll(() => output).toContain(words);
}

test("a contract that cannot be registered is said in its first line, and nothing starts", async () => {
  writeFileSync(join(copy, TOOL), text.replace('"expression", "result"]', '"expression", "x"]'));
  await start();
  expect(await ended()).toBe(1);
  const reason = 'contracts: Tool "core__calculate": redaction.output names no field: x';
  expect(output).toContain("Interlock did not start.");
  expect(output.trim().split("\n")[0]).toContain(reason);
  expect(output.trim().split("\n").length).toBeLessThan(6);
});

/** Policies that the start refuses, with what it says. */
const REFUSED_POLICIES = [
  [
    "a tool that does not exist",
    '{\n  "allowedTools": [\n    "core__calculate",\n    "no__tool"\n  ]\n}\n',
    "tenant/policy.json:4: /allowedTools/1: no such tool",
  ],
  [
    "a field of a wrong type",
    '{\n  "allowedTools": 7\n}\n',
    "tenant/policy.json:2: /allowedTools: expected",
  ],
] as const;

test.each(sampleOfGroups(REFUSED_POLICIES, () => "policy", 2))(
  "a policy with %s is said with its line, and nothing starts",
  async (_case, policy, reason) => {
    const file = join(copy, "tenant/policy.json");
    const own = readFileSync(file, "utf8");
    writeFileSync(file, policy);
    await start();
    expect(await ended()).toBe(1);
    writeFileSync(file, own);
    expect(output).toContain(reason);
  },
);

/** What each start stored, the next one finds. */
describe("a running server and the files of its tenant", () => {
  const file = (): string => join(copy, "tenant/policy.json");
  const address = (): string => `http://127.0.0.1:${port}/v1/policy`;
  let own: string;
  beforeAll(() => {
    rmSync(stateFolder(), { recursive: true, force: true });
    own = readFileSync(file(), "utf8");
  });
  afterAll(() => writeFileSync(file(), own));

  test("is ready when its policy is stored, whatever the first person may, and names places of a throw", async () => {
    const people = join(copy, "few.json");
    const document = { tenantId: "dev", people: { ann: { scopes: ["chat"] }, bob: {} } };
    writeFileSync(people, JSON.stringify(document));
    const scoped = '{ "id": "core__calculate", "scopes": ["sums:policy"] }';
    writeFileSync(file(), own.replace('"core__calculate"', scoped));
    const throwing = 'if (expression === "1") throw new TypeError("no such sum");';
    const changed = text
      .replace('dataClassification: "public"', '$&, requiredScopes: ["sums:tool"]')
      .replace("const computed", `${throwing}\n    $&`);
    writeFileSync(join(copy, TOOL), changed);
    await start({ flags: ["--people", people] });
    const invoke = async (who: string, expression: string): Promise<string> => {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/tools/core__calculate/invoke`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-interlock-as": who },
        body: JSON.stringify({ arguments: { expression } }),
      }).catch(() => undefined);
      return (await answer?.text()) ?? "none";
    };
    // The first answer of the Worker comes when its tools are there.
    const answered = (): Promise<string> => invoke("bob", "6*7");
    const isAnswer = (answer: string): boolean =>
      answer !== "none" && !answer.includes("Interlock starts");
    await expect.poll(async () => isAnswer(await answered()), SLOWLY).toBe(true);
    expect(await answered()).toContain("42");
    expect(await invoke("ann", "6*7")).toContain("PERMISSION_DENIED");
    await invoke("bob", "1");
    const line = changed.split(throwing)[0]?.split("\n").length;
    await told("TypeError: no such sum");
    expect(output).toMatch(new RegExp(`at .*execute .*\\(${TOOL}:${line}:\\d+\\)`));
    await told("Interlock is ready");
    await breaksAndMends(changed);
  });

  /** What breaks the deployment is the answer to each request until it is mended. */
  async function breaksAndMends(sound: string): Promise<void> {
    const line = sound.split("\n").length + 1;
    const breaks = [
      ["const x = ;", new RegExp(`^503 ${TOOL}:${line}:11: Unexpected ";"\n$`)],
      [
        "setTimeout(() => 1, 5);",
        new RegExp(
          `^503 Error: setTimeout\\(\\) at the top level .*\n +at .*${TOOL}:${line}:1\\)?\n$`,
        ),
      ],
    ] as const;
    for (const [broken, refusal] of breaks) {
      output = "";
      await expect.poll(() => save(`${sound}\n${broken}\n`), SLOWLY).toMatch(refusal);
      await told((await ask()).replace("503 ", "").trim());
      await expect.poll(() => save(sound), SLOWLY).toBe('200 {"status":"ok"}');
      await told(`Interlock is ready again: http://127.0.0.1:${port}/`);
      expect(output.split("Interlock answers with this until it is mended.")).toHaveLength(2);
    }
  }

  interface StoredPolicy {
    readonly revision: number;
    readonly policy: { readonly allowedTools: readonly { readonly id: string }[] };
  }
  const stored = async (): Promise<readonly [revision: number, tools: readonly string[]]> => {
    const answer = await fetch(address());
    const { revision, policy } = await answer.json<StoredPolicy>();
    return [revision, policy.allowedTools.map(({ id }) => id)];
  };
  const allow = (...allowedTools: string[]): string => JSON.stringify({ allowedTools });
  const KEPT = "tenant/policy.json is not stored, because somebody changed";

  test("a policy is stored when its file changes, also meanwhile, unless somebody changed it over HTTP", async () => {
    writeFileSync(file(), allow("core__calculate"));
    await start();
    await told("Interlock is ready");
    const [first, tools] = await stored();
    expect(tools).toEqual(["core__calculate"]);
    writeFileSync(file(), allow("core__generate_title"));
    await told("tenant/policy.json is stored.");
    expect(await stored()).toEqual([first + 1, ["core__generate_title"]]);

    writeFileSync(file(), '{\n  "allowedTools": ["no__tool"]\n}\n');
    await told("tenant/policy.json:2: /allowedTools/0: no such tool");
    writeFileSync(file(), "{");
    await told(`${file()}:1: `);
    expect(await stored()).toEqual([first + 1, ["core__generate_title"]]);

    const headers = { "content-type": "application/json", "if-match": `"${first + 1}"` };
    const body = allow("core__get_current_time");
    const { status } = await fetch(address(), { method: "PUT", headers, body });
    writeFileSync(file(), allow("core__calculate", "core__get_current_time"));
    await told(KEPT);
    expect([status, await stored()]).toEqual([200, [first + 2, ["core__get_current_time"]]]);
    await told("restart with: npm run dev -- --replace");
  });

  test("--replace stores the files anyway, a configured provider answers, and SIGINT ends every process", async () => {
    const asked: object[] = [];
    const provider = createServer(({ headers, url }: IncomingMessage, response) => {
      asked.push({ authorization: headers.authorization, url });
      response.writeHead(200, { "content-type": "text/event-stream" });
      const chunk = { choices: [{ index: 0, delta: { content: "mine" }, finish_reason: "stop" }] };
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
    });
    await new Promise<void>((listening) => provider.listen(0, "127.0.0.1", listening));
    const OPENAI_BASE_URL = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
    const variables = { OPENAI_BASE_URL, OPENAI_API_KEY: "sk-mine", MODELS: "mine" };
    await start({ flags: ["--replace"], variables });
    await told("Interlock is ready");
    expect((await stored())[1]).toEqual(["core__calculate", "core__get_current_time"]);
    expect(output).not.toContain(KEPT);

    const answer = await fetch(`http://127.0.0.1:${port}/v1/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messages: [{ role: "user", content: "Hello" }] }),
    });
    expect(await answer.text()).toContain('"textDelta":"mine"');
    expect(asked).toEqual([{ authorization: "Bearer sk-mine", url: "/v1/chat/completions" }]);
    expect(output).not.toContain("offline model");
    expect(output).not.toContain("sk-mine");
    provider.close();

    expect(processesNaming(stateFolder()).length).toBeGreaterThan(1);
    server?.kill("SIGINT");
    await ended();
    expect(processesNaming(stateFolder())).toEqual([]);
  });
});

test("a module that throws is said with its place", async () => {
  writeFileSync(join(copy, TOOL), `${text}\nthrow new Error("no such table");\n`);
  await start();
  expect(await ended()).toBe(1);
  expect(output).toMatch(/no such table\n +at .*calculate\.ts/);
});

test("a file of answers that is not there is said, and nothing goes on", async () => {
  await start({ flags: ["--offline", "no-such-file.ts"] });
  expect(await ended()).toBe(1);
  expect(output.trim()).toBe("--offline: there is no no-such-file.ts.");
});

test("a port in use is said before anything else, with the way to choose another", async () => {
  const taken: Server = createServer();
  await new Promise<void>((listening) => taken.listen(0, "127.0.0.1", listening));
  const { port: busy } = taken.address() as AddressInfo;
  await start({ chosen: busy });
  expect(await ended()).toBe(1);
  taken.close();
  const advice = `npm run dev -- --port ${busy + 1}`;
  expect(output.trim()).toBe(`Port ${busy} is in use. Choose another one: ${advice}`);
});

import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../cli/development/free-port.ts";
import { copyRepository } from "../shared/copied-repository.ts";

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

async function start(chosen?: number, ...more: readonly string[]): Promise<void> {
  port = chosen ?? (await freePort());
  output = "";
  const flags = ["dev", "--port", String(port), "--persist-to", join(copy, "state"), ...more];
  const own = /^(?:OPENAI|ANTHROPIC)_/;
  server = spawn(process.execPath, [join(copy, "cli/interlock.ts"), ...flags], {
    cwd: copy,
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name))),
  });
  server.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  server.stderr?.on("data", (chunk: Buffer) => (output += chunk.toString()));
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

test("what breaks the deployment is the answer to each request until it is mended", async () => {
  await start();
  await told("Interlock is ready");
  const line = text.split("\n").length + 1;
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
    await expect.poll(() => save(`${text}\n${broken}\n`), SLOWLY).toMatch(refusal);
    await told((await ask()).replace("503 ", "").trim());
    await expect.poll(() => save(text), SLOWLY).toBe('200 {"status":"ok"}');
    await told(`Interlock is ready again: http://127.0.0.1:${port}/`);
    expect(output.split("Interlock answers with this until it is mended.")).toHaveLength(2);
  }
});

test("a contract that cannot be registered is said in its first line, and nothing starts", async () => {
  writeFileSync(join(copy, TOOL), text.replace('"expression", "result"]', '"expression", "x"]'));
  await start();
  expect(await ended()).toBe(1);
  const reason = 'contracts: Tool "core__calculate": redaction.output names no field: x';
  expect(output).toContain("Interlock did not start.");
  expect(output.trim().split("\n")[0]).toContain(reason);
  expect(output.trim().split("\n").length).toBeLessThan(6);
});

test.each([
  [
    "a field of a wrong type",
    '{\n  "allowedTools": 7\n}\n',
    "tenant/policy.json:2: /allowedTools: expected",
  ],
  [
    "a tool that does not exist",
    '{\n  "allowedTools": [\n    "core__calculate",\n    "no__tool"\n  ]\n}\n',
    "tenant/policy.json:4: /allowedTools/1: no such tool",
  ],
])("a policy with %s is said with its line, and nothing starts", async (_case, policy, reason) => {
  const file = join(copy, "tenant/policy.json");
  const own = readFileSync(file, "utf8");
  rmSync(join(copy, "state"), { recursive: true, force: true });
  writeFileSync(file, policy);
  await start();
  expect(await ended()).toBe(1);
  writeFileSync(file, own);
  expect(output).toContain(reason);
});

describe("a running server and the files of its tenant", () => {
  const file = (): string => join(copy, "tenant/policy.json");
  const address = (): string => `http://127.0.0.1:${port}/v1/policy`;
  let own: string;
  beforeAll(() => (own = readFileSync(file(), "utf8")));
  afterEach(() => writeFileSync(file(), own));

  interface StoredPolicy {
    readonly revision: number;
    readonly policy: { readonly allowedTools: readonly { readonly id: string }[] };
  }
  const stored = async () => {
    const answer = await fetch(address());
    const { revision, policy } = await answer.json<StoredPolicy>();
    return [revision, policy.allowedTools.map(({ id }) => id)];
  };
  const allow = (...allowedTools: string[]): string => JSON.stringify({ allowedTools });

  test("a policy is stored when its file changes, also meanwhile, unless somebody changed it over HTTP", async () => {
    rmSync(join(copy, "state"), { recursive: true, force: true });
    await start();
    await told("Interlock is ready");
    writeFileSync(file(), allow("core__calculate"));
    await told("tenant/policy.json is stored.");
    expect(await stored()).toEqual([2, ["core__calculate"]]);
    writeFileSync(file(), allow("core__generate_title"));
    await expect.poll(() => output.split("tenant/policy.json is stored."), SLOWLY).toHaveLength(3);

    writeFileSync(file(), '{\n  "allowedTools": ["no__tool"]\n}\n');
    await told("tenant/policy.json:2: /allowedTools/0: no such tool");
    writeFileSync(file(), "{");
    await told(`${file()}:1: `);
    expect(await stored()).toEqual([3, ["core__generate_title"]]);

    server?.kill("SIGTERM");
    await ended();
    writeFileSync(file(), allow("core__calculate"));
    await start();
    await told("Interlock is ready");
    expect(await stored()).toEqual([4, ["core__calculate"]]);

    const headers = { "content-type": "application/json", "if-match": '"4"' };
    const body = allow("core__get_current_time");
    const { status } = await fetch(address(), { method: "PUT", headers, body });
    writeFileSync(file(), allow("core__calculate", "core__get_current_time"));
    const kept = "tenant/policy.json is not stored, because somebody changed";
    await told(kept);
    expect([status, await stored()]).toEqual([200, [5, ["core__get_current_time"]]]);
    await told("restart with: npm run dev -- --replace");

    server?.kill("SIGTERM");
    await ended();
    await start(undefined, "--replace");
    await told("Interlock is ready");
    expect(await stored()).toEqual([6, ["core__calculate", "core__get_current_time"]]);
    expect(output).not.toContain(kept);
  });

  test("is ready when its policy is stored, whatever the first person may, and names places of a throw", async () => {
    rmSync(join(copy, "state"), { recursive: true, force: true });
    const people = join(copy, "few.json");
    const document = { tenantId: "dev", people: { ann: { scopes: ["chat"] }, bob: {} } };
    writeFileSync(people, JSON.stringify(document));
    const scoped = '{ "id": "core__calculate", "scopes": ["sums:policy"] }';
    writeFileSync(file(), own.replace('"core__calculate"', scoped));
    const throwing = 'if (expression === "1") throw new TypeError("no such sum");';
    writeFileSync(
      join(copy, TOOL),
      text
        .replace('dataClassification: "public"', '$&, requiredScopes: ["sums:tool"]')
        .replace("const computed", `${throwing}\n    $&`),
    );
    await start(undefined, "--people", people);
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
    const isAnswer = (text: string): boolean =>
      text !== "none" && !text.includes("Interlock starts");
    await expect.poll(async () => isAnswer(await answered()), SLOWLY).toBe(true);
    expect(await answered()).toContain("42");
    expect(await invoke("ann", "6*7")).toContain("PERMISSION_DENIED");
    await invoke("bob", "1");
    const line = readFileSync(join(copy, TOOL), "utf8").split(throwing)[0]?.split("\n").length;
    await told("TypeError: no such sum");
    expect(output).toMatch(new RegExp(`at .*execute .*\\(${TOOL}:${line}:\\d+\\)`));
  });
});

test("a module that throws is said with its place", async () => {
  writeFileSync(join(copy, TOOL), `${text}\nthrow new Error("no such table");\n`);
  await start();
  expect(await ended()).toBe(1);
  expect(output).toMatch(/no such table\n +at .*calculate\.ts/);
});

test("a port in use is said before anything else, with the way to choose another", async () => {
  const taken: Server = createServer();
  await new Promise<void>((listening) => taken.listen(0, "127.0.0.1", listening));
  const { port: busy } = taken.address() as AddressInfo;
  await start(busy);
  expect(await ended()).toBe(1);
  taken.close();
  const advice = `npm run dev -- --port ${busy + 1}`;
  expect(output.trim()).toBe(`Port ${busy} is in use. Choose another one: ${advice}`);
});

import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../cli/development/free-port.ts";
import { PLACEHOLDERS } from "../../cli/scaffold/placeholders.ts";
import { closePages, openBrowser } from "../../scripts/browser.ts";
import { Person } from "../story/person.ts";
import { startLocalRegistry, type LocalRegistry } from "./local-registry.ts";

const ROOT = join(import.meta.dirname, "../..");
const TUTORIAL = readFileSync(join(ROOT, "docs/tutorial.md"), "utf8");
/** Node of the system; tests run on another one. */
const SYSTEM_NODE = "/usr/bin/node";

/** An empty folder, in which a newcomer follows docs/tutorial.md. */
let folder: string;
let desk: string;
let registry: LocalRegistry;
let browser: Browser;
let tarball: string;
const running: Running[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "interlock-package-"));
  desk = join(folder, "ticket-desk");
  const npmCache = (await run(ROOT, "npm", "config", "get", "cache")).trim();
  [registry, browser] = await Promise.all([startLocalRegistry(npmCache), openBrowser()]);
  await run(ROOT, "npm", "pack", "--silent", "--pack-destination", folder);
  tarball = join(folder, `interlock-edge-${versionOf(ROOT)}.tgz`);
});

afterAll(async () => {
  await closePages(browser);
  for (const started of running) await started.stop();
  registry?.close();
  rmSync(folder, { recursive: true, force: true });
});

test("a newcomer makes, tests, uses, builds and upgrades a ticket desk, and edits nothing of Interlock", async () => {
  await makesProject();
  await follow("npm test");
  await follow("npx interlock new tool desk close_ticket --effect state_change");
  describesNewTool();
  await follow("npx interlock contracts update");
  // The oldest Node that a newcomer may have, without the one that the project brings.
  if (existsSync(SYSTEM_NODE)) {
    for (const line of ["build", "contracts check", "check --env production"]) {
      await run(desk, SYSTEM_NODE, "node_modules/.bin/interlock", ...line.split(" "));
    }
  }
  const service = await startService();
  const state = join(folder, "state");
  let server = await startDev(state);
  await asksInBrowser(server);
  await twoOthersApproveRefund(server, service);
  const waiting = await asksForAssignment(server);
  await follow("npx wrangler deploy --dry-run --env production");
  await server.stop();
  await upgrades();
  server = await startDev(state);
  await annApproves(server, waiting);
  const tickets = await (await fetch(`${service}/tickets?status=open`)).json();
  expect(tickets).toMatchObject({ tickets: [{ id: "T-1", assignee: "bob" }, { id: "T-2" }] });
});

async function makesProject(): Promise<void> {
  const documented =
    "npm exec --yes --package=./interlock-edge-0.1.0.tgz -- interlock new ticket-desk --template desk --from ./interlock-edge-0.1.0.tgz";
  await follow(documented, folder);
  // This Node is new enough. The package would fetch another one.
  await run(desk, "npm", "pkg", "delete", "devDependencies.node");
  await follow("npm install");
}

/** Writes the description that the scaffold asks for. */
function describesNewTool(): void {
  const file = join(desk, "src/tools/desk/close-ticket.ts");
  const scaffold = readFileSync(file, "utf8");
  const written = scaffold.replace(PLACEHOLDERS.description, "Closes a ticket.");
  expect(written).not.toBe(scaffold);
  writeFileSync(file, written);
}

async function asksInBrowser({ url }: Running): Promise<void> {
  const ann = await sitDown(url);
  await ann.ask("What time is it in Tokyo?");
  await ann.reads("Right now in Tokyo it is");
  await ann.page.close();
}

/** Ann asks, Bob approves on the page of approvals, Eve over HTTP. */
async function twoOthersApproveRefund({ url }: Running, service: string): Promise<void> {
  const ann = await sitDown(url);
  await ann.ask('call desk__refund_ticket {"id":"T-1","amount":40}');
  await ann.sees("Refund 40 USD for T-1");
  // A browser keeps one choice of a person for each host.
  const bob = await sitDown(`${url.replace("127.0.0.1", "localhost")}/approvals`);
  await bob.page.getByLabel("Acting as").selectOption("bob");
  await bob.open("Refund 40 USD for T-1");
  expect(await bob.approveCritical("desk__refund_ticket")).toBe(200);
  const [open] = await approvalsOf(url, "eve");
  expect(await vote(url, "eve", open ?? "")).toBe(200);
  await ann.reads("R-1");
  expect(await (await fetch(`${service}/refunds`)).json()).toEqual([{ id: "T-1", amount: 40 }]);
  expect([...ann.complaints, ...bob.complaints]).toEqual([]);
  await Promise.all([ann.page.close(), bob.page.close()]);
}

/** Starts a run that waits for Ann. */
async function asksForAssignment({ url }: Running): Promise<string> {
  const content = 'call desk__assign_ticket {"id":"T-1","assignee":"bob"}';
  const answer = await fetch(`${url}/v1/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content }] }),
  });
  await answer.text();
  await expect.poll(() => approvalsOf(url, "ann")).toHaveLength(1);
  return answer.headers.get("x-run-id") ?? "";
}

async function annApproves({ url }: Running, runId: string): Promise<void> {
  const [open] = await approvalsOf(url, "ann");
  expect(await vote(url, "ann", open ?? "")).toBe(200);
  await expect
    .poll(async () => (await fetch(`${url}/v1/runs/${runId}`)).json())
    .toMatchObject({ status: "completed" });
}

/** Installs the same package under a higher version. */
async function upgrades(): Promise<void> {
  const copy = join(folder, "next");
  mkdirSync(copy);
  await run(folder, "tar", "-xzf", tarball, "-C", copy);
  const file = join(copy, "package/package.json");
  const manifest = JSON.parse(readFileSync(file, "utf8")) as { version: string };
  manifest.version = "0.99.0";
  writeFileSync(file, JSON.stringify(manifest));
  const next = join(folder, "interlock-edge-0.99.0.tgz");
  await run(copy, "tar", "-czf", next, "package");
  expect(TUTORIAL).toContain("npm install interlock-edge@latest");
  await run(desk, "npm", "install", next);
  expect(versionOf(join(desk, "node_modules/interlock-edge"))).toBe("0.99.0");
}

/** Approvals that wait, by id, as a person sees them. */
async function approvalsOf(url: string, person: string): Promise<readonly string[]> {
  const answer = await fetch(`${url}/v1/approvals`, { headers: { "x-interlock-as": person } });
  const { approvals } = await answer.json<{ approvals: readonly { approvalId: string }[] }>();
  return approvals.map(({ approvalId }) => approvalId);
}

/** Approves as the tutorial's command does. */
async function vote(url: string, person: string, approvalId: string): Promise<number> {
  const [, body = ""] = /decisions -H 'x-interlock-as: eve'[^]*?-d '([^']+)'/.exec(TUTORIAL) ?? [];
  const address = `${url}/v1/approvals/${approvalId}/decisions`;
  const headers = { "x-interlock-as": person, "content-type": "application/json" };
  return (await fetch(address, { method: "POST", headers, body })).status;
}

interface Running {
  readonly url: string;
  stop(): Promise<void>;
}

async function startDev(state: string): Promise<Running> {
  const port = await freePort();
  const flags = ["--port", String(port), "--persist-to", state];
  return keepRunning("Interlock is ready", port, ["npm", "run", "dev", "--", ...flags]);
}

async function startService(): Promise<string> {
  const port = await freePort();
  writeFileSync(join(desk, ".dev.vars"), `DESK_URL=http://127.0.0.1:${port}\n`);
  const command = ["env", `DESK_PORT=${port}`, "npm", "run", "desk"];
  return (await keepRunning("The desk is at", port, command)).url;
}

/** Starts a command in the project and waits until it says that it is ready. */
async function keepRunning(
  ready: string,
  port: number,
  [command = "", ...args]: readonly string[],
): Promise<Running> {
  // A group of its own, which ends as a whole: npm ends before what it started.
  const child = spawn(command, args, { cwd: desk, env: environment(), detached: true });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let output = "";
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      if (output.includes(ready)) resolve();
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    void exited.then(() => reject(new Error(`${command} ${args.join(" ")} ended: ${output}`)));
  });
  const started = {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      // npm does not wait for the command, which first ends what it started.
      signalGroup(child.pid, "SIGTERM");
      await exited;
      while (await isListening(port)) await new Promise((resolve) => setTimeout(resolve, 50));
    },
  };
  running.push(started);
  return started;
}

function signalGroup(leader: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (leader !== undefined) process.kill(-leader, signal);
  } catch {
    // The group has ended.
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** Runs a command of the tutorial, with the version of today. */
async function follow(line: string, cwd = desk): Promise<void> {
  expect(TUTORIAL).toContain(line);
  const [command = "", ...args] = line.replaceAll("0.1.0", versionOf(ROOT)).split(" ");
  await run(cwd, command, ...args);
}

/** Runs a command to its end. Fails: throws its output when it fails. */
async function run(cwd: string, command: string, ...args: readonly string[]): Promise<string> {
  const options = { cwd, env: environment(), maxBuffer: 64 * 1024 * 1024 };
  return promisify(execFile)(command, args, options).then(
    ({ stdout }) => stdout,
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${command} ${args.join(" ")}:\n${error.stdout}\n${error.stderr}`);
    },
  );
}

/** The environment of a newcomer: this Node, no settings of this repository, the local registry. */
function environment(): NodeJS.ProcessEnv {
  const own = /^(?:npm_|OPENAI_|ANTHROPIC_|RUN_ID|CONNECTION_KEYS|INIT_CWD|NODE_|VITEST|TEST)/i;
  const kept = Object.entries(process.env).filter(([name]) => !own.test(name));
  return {
    ...Object.fromEntries(kept),
    PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
    npm_config_registry: registry?.url,
    npm_config_update_notifier: "false",
    npm_config_audit: "false",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    WRANGLER_SEND_METRICS: "false",
  };
}

async function sitDown(address: string): Promise<Person> {
  const person = await Person.sitDown(browser);
  await person.page.goto(address);
  return person;
}

function versionOf(folder: string): string {
  const text = readFileSync(join(folder, "package.json"), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}

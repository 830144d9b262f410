import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { MODEL_WIRE_IDS, type ModelWireId } from "../../src/protocol/model/declaration.ts";
import type { Page } from "../../src/http/pages.ts";
import { buildDeployment } from "../build-deployment.ts";
import { CommandError, type Command, messageOf, parsing, UsageError } from "../command.ts";
import { startFront } from "../development/front.ts";
import { actAs, readPeople, type DevelopmentPeople } from "../development/people.ts";
import { copyPretty } from "../development/pretty-log.ts";
import { readRefusal, refusalFile } from "../development/refusal.ts";
import { followTenant } from "../development/follow-tenant.ts";
import { storeTenant } from "../development/store-tenant.ts";
import { type Provider, readDevVars, readProvider, readTokens } from "../development/settings.ts";
import { tellBuilds } from "../development/tell-builds.ts";
import { freePort } from "../free-port.ts";
import { loadScenarios } from "../offline-scenarios.ts";
import { startOfflineModel } from "../offline-model.ts";
import { readLocalDocuments } from "../push/local-documents.ts";
import { openDevelopmentRecord } from "../push/pushed-record.ts";
import { startTree, type ProcessTree } from "../process-tree.ts";
import { loadDeployment, outputFolder, projectFolder, wranglerScript } from "../project.ts";

const USAGE =
  "Usage: interlock dev [--port N] [--persist-to DIR] [--people FILE] [--as NAME] " +
  `[--wire ${MODEL_WIRE_IDS.join("|")}] [--offline FILE]\n` +
  "Runs the deployment on this machine, with an offline model unless a provider is configured.\n" +
  "--people: the people who need no token. --as: who acts first. --wire: of the offline model.\n" +
  "--offline: a module with more answers of the offline model; see docs/testing.md.";
/** The people who need no token; docs/identity.md describes the file. */
const PEOPLE_FILE = "tenant/people.json";

export const command: Command = {
  usage: USAGE,
  run: runHere,
};

/** Runs a model (offline unless one is configured), the Worker and the server in front of it. */
async function runHere(args: string[]): Promise<void> {
  const { port, persistTo, peopleFile, actor, wire, offlineFile } = readArguments(args);
  const project = projectFolder();
  const people = choosePeople(peopleFile, actor);
  // A file that is wrong in itself is told before anything starts.
  readLocalDocuments(project);
  mkdirSync(persistTo, { recursive: true });
  const record = openDevelopmentRecord(persistTo);
  const provider = readProvider();
  const secret = randomBytes(32).toString("hex");
  const innerPort = await freePort();
  const output = outputFolder(project);
  const refusal = (): string | undefined => readRefusal(output);
  await startFront({ port, innerPort, secret, people, refusal }).catch((error: unknown) => {
    throw new CommandError(describeListen(port, error));
  });
  rmSync(refusalFile(output), { force: true });
  const refused = await buildDeployment(project);
  if (refused !== undefined) {
    console.error(`${refused}\nInterlock did not start.`);
    process.exit(1);
  }
  const offline = provider
    ? undefined
    : await startOfflineModel(await loadScenarios(project, offlineFile));
  const scratch = mkdtempSync(join(tmpdir(), "interlock-"));
  const secretsFile = join(scratch, "secrets");
  const tokens = readTokens();
  const secrets = {
    ...readDevVars(),
    OPENAI_API_KEY: offline ? "offline" : provider?.OPENAI_API_KEY,
    ANTHROPIC_API_KEY: offline ? "offline" : provider?.ANTHROPIC_API_KEY,
    RUN_ID_SECRET: keptSecret(join(persistTo, "run-id-secret"), "hex"),
    CONNECTION_KEYS: JSON.stringify([
      { id: "dev", key: keptSecret(join(persistTo, "connection-key"), "base64") },
    ]),
    ...tokens.secrets,
  };
  writeFileSync(secretsFile, toEnvFile(secrets), { mode: 0o600 });
  const variables = {
    OPENAI_BASE_URL: offline?.url ?? provider?.OPENAI_BASE_URL,
    ANTHROPIC_BASE_URL: offline?.url ?? provider?.ANTHROPIC_BASE_URL,
    MODELS: offline ? `${wire}:offline` : provider?.MODELS,
    // Other users can read it. They can use this server anyway; web pages cannot read it.
    DEVELOPER: JSON.stringify({ people: [...people.values()], secret }),
    ...tokens.variables,
  };

  const worker = startWorker({ project, port: innerPort, persistTo, secretsFile, variables });
  let isStopping = false;
  const stop = async (code: number): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    await worker.stop();
    await offline?.stop();
    rmSync(scratch, { recursive: true, force: true });
    process.exit(code);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => void stop(0));
  }
  void worker.exited.then((code) => {
    if (!isStopping) console.error("The server of the Worker ended, so Interlock ends.");
    return stop(code);
  });
  // The parent may be killed without a signal to this process. Nothing may outlive the parent.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && void stop(0), 500).unref();
  const tenant = { url: `http://127.0.0.1:${port}`, project, record };
  const unready = await firstAnswer(port, () => isStopping);
  const documents =
    unready === undefined ? await storeTenant(tenant) : { kept: [], refused: [unready] };
  if (documents.refused.length === 0) {
    const { pages = [] } = await loadDeployment(project);
    announce(port, { provider: offline ? undefined : provider, pages });
    tellTenant(documents.kept);
    followTenant(tenant, tellTenant);
    tellBuilds(output, {
      answers: () => isHealthy(port),
      tellRefused: (why) =>
        console.error(`${why}\nInterlock answers with this until it is mended.\n`),
      tellMended: () => console.log(`  Interlock is ready again: http://127.0.0.1:${port}/\n`),
    });
  } else {
    console.error(`${documents.refused.join("\n").trimEnd()}\nInterlock did not start.`);
    await stop(1);
  }
}

/** Settings of `wrangler dev`. Secrets go in a file, because other users can read arguments. */
interface WorkerSettings {
  readonly project: string;
  readonly port: number;
  readonly persistTo: string;
  readonly secretsFile: string;
  readonly variables: Record<string, string | undefined>;
}

function startWorker({
  project,
  port,
  persistTo,
  secretsFile,
  variables,
}: WorkerSettings): ProcessTree {
  const args = [
    wranglerScript(project),
    "dev",
    "--local",
    "--ip=127.0.0.1",
    `--port=${port}`,
    "--inspector-port=0",
    `--persist-to=${persistTo}`,
    `--env-file=${secretsFile}`,
    "--log-level=warn",
    "--show-interactive-dev-session=false",
    ...toVarFlags(variables),
  ];
  const quiet = { CLOUDFLARE_CF_FETCH_ENABLED: "false", WRANGLER_SEND_METRICS: "false" };
  // When a build fails, wrangler hides the reason, and the server in front has to tell it.
  const build = { SERVE_REFUSAL: "1" };
  const colour = process.stdout.isTTY ? { FORCE_COLOR: "1" } : {};
  const tree = startTree(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...quiet, ...build, ...colour },
  });
  const { stdout, stderr } = tree.child;
  if (stdout) copyPretty(stdout, process.stdout);
  if (stderr) copyPretty(stderr, process.stderr);
  return tree;
}

function readArguments(args: string[]): {
  readonly port: number;
  readonly persistTo: string;
  readonly peopleFile: string;
  readonly actor: string | undefined;
  readonly wire: ModelWireId;
  readonly offlineFile: string | undefined;
} {
  const text = { type: "string" } as const;
  const options = {
    port: text,
    "persist-to": text,
    people: text,
    as: text,
    wire: text,
    offline: text,
  };
  const { values } = parsing(() => parseArgs({ args, options }));
  const port = Number(values.port ?? 8787);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new UsageError(`--port takes a number from 1 to 65535, not ${values.port}`);
  }
  const wire = MODEL_WIRE_IDS.find((id) => id === (values.wire ?? "openai"));
  if (!wire) {
    throw new UsageError(`--wire takes ${MODEL_WIRE_IDS.join(", ")}, not ${values.wire}`);
  }
  const persistTo = resolve(values["persist-to"] ?? ".wrangler/state");
  const { people: peopleFile = PEOPLE_FILE, as: actor, offline: offlineFile } = values;
  return { port, persistTo, peopleFile, actor, wire, offlineFile };
}

function choosePeople(file: string, actor: string | undefined): DevelopmentPeople {
  return parsing(() => {
    const all = readPeople(file);
    return actor === undefined ? all : actAs(all, actor);
  });
}

/**
 * Keeps a secret in the state directory, so that run ids and sealed connections survive a restart.
 */
function keptSecret(file: string, encoding: "hex" | "base64"): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString(encoding), { mode: 0o600 });
  return readFileSync(file, "utf8");
}

function toEnvFile(variables: Record<string, string | undefined>): string {
  return Object.entries(variables)
    .flatMap(([name, value]) => (value === undefined ? [] : `${name}=${quote(value)}\n`))
    .join("");
}

function quote(value: string): string {
  const mark = ["'", '"', "`"].find((one) => !value.includes(one)) ?? "";
  return `${mark}${value}${mark}`;
}

function toVarFlags(variables: Record<string, string | undefined>): string[] {
  return Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : ["--var", `${name}:${value}`],
  );
}

/** Waits for the Worker. Returns the reason when the Worker refuses to work, else undefined. */
async function firstAnswer(port: number, isStopping: () => boolean): Promise<string | undefined> {
  while (!isStopping()) {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/healthz`);
      return answer.ok ? undefined : detailOf(await answer.text());
    } catch {
      // Not listening yet.
    }
    await new Promise((wait) => setTimeout(wait, 100));
  }
  return "The Worker ended before it answered.";
}

async function isHealthy(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
  return answer?.ok ?? false;
}

/** The words of a problem document; else the whole text. */
function detailOf(text: string): string {
  const [, detail] = /"detail":("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
  return detail === undefined ? text : (JSON.parse(detail) as string);
}

function describeListen(port: number, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== "EADDRINUSE") return `Port ${port} cannot be used: ${messageOf(error)}`;
  return `Port ${port} is in use. Choose another one: npm run dev -- --port ${port + 1}`;
}

/** Tells what became of files of the tenant. */
function tellTenant(lines: readonly string[]): void {
  for (const line of lines) console.log(`  ${line}`);
}

interface Started {
  readonly provider: Provider | undefined;
  readonly pages: readonly Page[];
}

function announce(port: number, { provider, pages }: Started): void {
  const model = provider
    ? `models ${provider.MODELS ?? "of wrangler.toml"}`
    : "offline model, no key needed";
  const url = `http://127.0.0.1:${port}/`;
  const hasGame = pages.some(({ paths }) => paths.includes("/gameplan"));
  const game = hasGame ? `\n  GamePlan: ${url}gameplan` : "";
  console.log(`${game}\n  Interlock is ready: ${url}  (${model})\n  Ctrl-C stops it.\n`);
}
